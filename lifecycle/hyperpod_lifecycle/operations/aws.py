"""AWS as an operator speaks to it: retried, page by page, with errors in words."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_lifecycle.operations.errors import OperationError, in_words

ATTEMPTS: Final = 10
"""How often a request is sent before an answer that asks to slow down counts; ``AWS_MAX_ATTEMPTS`` wins."""

_CONNECT_SECONDS: Final = 10
_READ_SECONDS: Final = 60


class Aws:
    """Clients of one region, with adaptive retries. boto3 is imported when one is made.

    Args:
        region: Region. Default: that of the profile or the environment.
        profile: Profile of the shared configuration. Default: that of the environment.

    Raises:
        OperationError: If there is no such profile, or no region.
    """

    def __init__(self, *, region: str | None = None, profile: str | None = None) -> None:
        import boto3

        with in_words():
            self._session = boto3.Session(region_name=region, profile_name=profile)
        if self._session.region_name is None:
            raise OperationError(
                "wrong_region",
                "no region is given; say --region, set AWS_REGION, or name the cluster by its ARN",
            )
        self.region: str = self._session.region_name
        self.profile = profile
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        """Return the client of a service.

        Args:
            service: Its name in boto3.

        Raises:
            OperationError: If the region is none.
        """
        if service not in self._clients:
            from botocore.config import Config

            retries: Any = {"mode": "adaptive", "total_max_attempts": _attempts()}
            config = Config(retries=retries, connect_timeout=_CONNECT_SECONDS, read_timeout=_READ_SECONDS)
            with in_words(region=self.region):
                self._clients[service] = self._session.client(service, config=config)
        return self._clients[service]

    def call(self, service: str, operation: str, **request: Any) -> dict[str, Any]:
        """Send a request.

        Args:
            service: Its name in boto3.
            operation: In the spelling of the API, such as ``DescribeCluster``.
            **request: Its members.

        Raises:
            OperationError: If AWS refuses, or cannot be asked.
        """
        from botocore import xform_name

        client = self.client(service)
        with in_words(region=self.region, action=f"{service}:{operation}"):
            answer: dict[str, Any] = getattr(client, xform_name(operation))(**request)
        return answer

    def pages(self, service: str, operation: str, key: str, **request: Any) -> Iterator[Mapping[str, Any]]:
        """Send a request for each page of a list.

        Args:
            service: Its name in boto3.
            operation: In the spelling of the API, such as ``ListClusterNodes``.
            key: Member of the answer that holds the items.
            **request: Its members.

        Yields:
            The items.

        Raises:
            OperationError: If AWS refuses, or cannot be asked.
        """
        from botocore import xform_name

        client = self.client(service)
        with in_words(region=self.region, action=f"{service}:{operation}"):
            for page in client.get_paginator(xform_name(operation)).paginate(**request):
                yield from page.get(key, ())

    def credentials(self) -> Any:
        """Return botocore's credentials, for what is signed here.

        Raises:
            OperationError: If there are none.
        """
        with in_words(region=self.region):
            found = self._session.get_credentials()
        if found is None:
            raise OperationError("no_credentials", "there are no AWS credentials; sign in, or give --profile")
        return found


def _attempts() -> int:
    said = os.environ.get("AWS_MAX_ATTEMPTS", str(ATTEMPTS))
    if not said.isdecimal() or int(said) < 1:
        raise OperationError("unsuitable", f"AWS_MAX_ATTEMPTS must be a whole number from 1, got '{said}'")
    return int(said)
