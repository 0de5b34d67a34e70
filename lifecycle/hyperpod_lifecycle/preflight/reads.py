"""The only way by which the preflight speaks to AWS: operations that change nothing, each asked once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final, TypeVar

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.errors import in_words
from hyperpod_model.catalog.preflight import READS, Read

_READS: Final[Mapping[tuple[str, str], Read]] = {(read.service, read.operation): read for read in READS}

_Key = tuple[str, str, str]
_Answer = TypeVar("_Answer")


class Reads:
    """Asks AWS. Threads may share it; the same question is asked once, whoever has it.

    Args:
        aws: Clients.
    """

    def __init__(self, aws: Aws) -> None:
        self.region = aws.region
        self._aws = aws
        self._lock = Lock()
        self._locks: dict[_Key, Lock] = {}
        self._answers: dict[_Key, Callable[[], Any]] = {}

    def one(self, service: str, operation: str, **request: Any) -> Mapping[str, Any]:
        """Send a request.

        Args:
            service: Its name in boto3.
            operation: In the spelling of the API, such as ``DescribeCluster``.
            **request: Its members.

        Raises:
            OperationError: If AWS refuses, or cannot be asked.
            ValueError: If the operation is none of the catalog's reads.
        """

        def ask(client: Any, method: str) -> Mapping[str, Any]:
            answer: Mapping[str, Any] = getattr(client, method)(**request)
            return answer

        return self._once(service, operation, request, ask)

    def all(self, service: str, operation: str, **request: Any) -> list[Any]:
        """Send a request for each page of a list, and return the items of all pages.

        Args:
            service: Its name in boto3.
            operation: In the spelling of the API, such as ``ListClusters``.
            **request: Its members.

        Raises:
            OperationError: If AWS refuses, or cannot be asked.
            ValueError: If the operation is none of the catalog's reads.
        """

        def ask(client: Any, method: str) -> list[Any]:
            pages = client.get_paginator(method).paginate(**request)
            return list(pages.search(pages.result_keys[0].expression))

        return self._once(service, operation, request, ask)

    def _once(
        self,
        service: str,
        operation: str,
        request: Mapping[str, Any],
        ask: Callable[[Any, str], _Answer],
    ) -> _Answer:
        read = _READS.get((service, operation))
        if read is None:
            raise ValueError(f"{service}:{operation} is none of the catalog's reads")
        key = (service, operation, json.dumps(request, sort_keys=True))
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._answers:
                self._answers[key] = self._asked(read, ask)
        answer: _Answer = self._answers[key]()
        return answer

    def _asked(self, read: Read, ask: Callable[[Any, str], _Answer]) -> Callable[[], _Answer]:
        from botocore import xform_name

        try:
            with self._lock:  # boto3 makes clients for one thread at a time
                client = self._aws.client(read.service)
            with in_words(region=self.region, action=read.action or f"{read.service}:{read.operation}"):
                answer = ask(client, xform_name(read.operation))
        except Exception as error:
            refusal = error

            def again() -> _Answer:
                raise refusal

            return again
        return lambda: answer
