"""A service API of the double's own, in the place of moto's: requests, answers and errors by the model."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock
from typing import Any
from urllib.parse import parse_qs, unquote
from uuid import uuid4

import botocore.session
from botocore.model import OperationModel, ServiceModel, StructureShape

from aws_double import ACCOUNT
from aws_double.session import model_violations

Answer = tuple[int, dict[str, str], str]
Handler = Callable[["Request"], Mapping[str, Any]]
Fallback = Callable[[Any, str, Any], Any]

_CREDENTIAL = re.compile(r"Credential=(?P<key>[^/]+)/\d+/(?P<region>[^/]+)/")
_LABEL = re.compile(r"{(\w+)\+?}")
_LOCK = RLock()


class ApiError(Exception):
    """What a service answers instead of a result.

    Args:
        code: Name of the error, such as ``ValidationException``.
        message: What is wrong.
        members: Other members of the error's shape.
    """

    def __init__(self, code: str, message: str, **members: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.members = members


class Elsewhere(Exception):
    """The fallback is to answer, since a request is about what the double does not keep itself."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that the API model admits.

    Attributes:
        region: Region it is for.
        access_key: Who asks.
        asked: Its members.
    """

    region: str
    access_key: str
    asked: dict[str, Any]


@dataclass
class ServiceApi:
    """Operations of a service that the double answers itself.

    Attributes:
        service: Its name in boto3.
        invalid: Code of the error for what the API model does not admit.
        fallback: What answers other operations. By default they are refused.
    """

    service: str
    invalid: str
    fallback: Fallback | None = None
    _handlers: dict[str, Handler] = field(default_factory=dict)
    _model: ServiceModel | None = None

    def operation(self, name: str) -> Callable[[Handler], Handler]:
        """Register what answers an operation, in the API model's spelling, such as ``CreateCluster``."""
        if name not in self.model.operation_names:
            raise ValueError(f"{self.service} has no operation {name!r}")

        def register(handler: Handler) -> Handler:
            self._handlers[name] = handler
            return handler

        return register

    @property
    def model(self) -> ServiceModel:
        """The API model of the service, as botocore has it."""
        if self._model is None:
            self._model = botocore.session.get_session().get_service_model(self.service)
        return self._model

    def answer(self, http: Any, full_url: str, headers: Any) -> Any:
        """Answer an HTTP request, as moto's server calls what a path leads to."""
        try:
            name, labels = self._operation(http)
            handler = self._handlers.get(name)
            if handler is None:
                if self.fallback is not None:
                    return self.fallback(http, full_url, headers)
                raise ApiError(
                    "NotInThisDouble",
                    f"{self.service}:{name} is not in this double; it has "
                    + ", ".join(sorted(self._handlers)),
                )
            operation = self.model.operation_model(name)
            credential = _CREDENTIAL.search(http.headers.get("Authorization", ""))
            if credential is None:
                raise ApiError("MissingAuthenticationTokenException", "the request is not signed")
            request = Request(
                region=credential["region"],
                access_key=credential["key"],
                asked=self._asked(operation, http, labels),
            )
            with _LOCK:
                result = dict(handler(request))
            return self._answered(operation, result)
        except Elsewhere:
            assert self.fallback is not None
            return self.fallback(http, full_url, headers)
        except ApiError as error:
            return self._refused(error)
        except Exception as error:
            # The server would answer with a page that says nothing.
            traceback.print_exc()
            return self._refused(ApiError("InternalFailure", f"a fault of the double: {error!r}"), status=500)

    def _operation(self, http: Any) -> tuple[str, dict[str, str]]:
        target = http.headers.get("X-Amz-Target")
        if target is not None:
            return target.rpartition(".")[2], {}
        for name in self.model.operation_names:
            operation = self.model.operation_model(name)
            if operation.http["method"] != http.method:
                continue
            found = _path_pattern(operation.http["requestUri"]).fullmatch(http.raw_path)
            if found is not None:
                return name, {label: unquote(value) for label, value in found.groupdict().items()}
        raise ApiError("UnknownOperationException", f"no operation at {http.method} {http.raw_path}")

    def _asked(self, operation: OperationModel, http: Any, labels: Mapping[str, str]) -> dict[str, Any]:
        body = http.get_data(as_text=True)
        asked: dict[str, Any] = json.loads(body) if body else {}
        shape = operation.input_shape
        if shape is None:
            return asked
        if self.model.metadata["protocol"] == "rest-json":
            asked.update(_outside_the_body(shape, http, labels))
        problems = model_violations(shape, asked)
        if problems:
            said = f"{len(problems)} validation error{'s' if len(problems) > 1 else ''} detected: "
            raise ApiError(self.invalid, said + "; ".join(problems))
        return asked

    def _answered(self, operation: OperationModel, result: dict[str, Any]) -> Answer:
        if operation.output_shape is not None:
            problems = model_violations(operation.output_shape, result)
            if problems:
                raise AssertionError(f"{self.service}:{operation.name} answers {'; '.join(problems)}")
        return 200, self._headers(), json.dumps(result, default=_timestamp)

    def _refused(self, error: ApiError, *, status: int = 400) -> Answer:
        for shape in self.model.error_shapes:
            if shape.name == error.code:
                status = shape.metadata.get("error", {}).get("httpStatusCode", status)
        said = {**error.members, "__type": error.code, "message": error.message}
        return status, {**self._headers(), "x-amzn-ErrorType": error.code}, json.dumps(said)

    def _headers(self) -> dict[str, str]:
        version = self.model.metadata.get("jsonVersion", "1.1")
        kind = "json" if self.model.metadata["protocol"] == "rest-json" else f"x-amz-json-{version}"
        return {"Content-Type": f"application/{kind}", "x-amzn-RequestId": str(uuid4())}


def state_of(backends: Any, region: str, make: Callable[[], Any]) -> Any:
    """Return what the double keeps of a service in a region, in moto's own backend so that its reset counts.

    Args:
        backends: Moto's backends of the service.
        region: The region.
        make: Makes an empty state.
    """
    kept: dict[str, Any] = backends[ACCOUNT][region].__dict__
    return kept.setdefault("of_the_double", make())


def page(
    items: Sequence[Mapping[str, Any]], asked: Mapping[str, Any], *, size: int, limit: str, token: str
) -> tuple[list[Mapping[str, Any]], dict[str, str]]:
    """Return one page of a list, and the token of the next one where there is one.

    Args:
        items: All items.
        asked: The request.
        size: Items of a page if the request does not say.
        limit: Name of the member with the number of items.
        token: Name of the member with the token.
    """
    start_text = asked.get(token, "0000")
    if not re.fullmatch(r"\d{4,}", start_text):
        raise ApiError("ValidationException", f"{token}: {start_text!r} is no token of this list")
    start = int(start_text)
    end = start + int(asked.get(limit, size))
    return list(items[start:end]), {token: f"{end:04d}"} if end < len(items) else {}


def _path_pattern(template: str) -> re.Pattern[str]:
    path = template.partition("?")[0]
    parts = _LABEL.split(path)
    pattern = "".join(
        f"(?P<{part}>[^/]+)" if position % 2 else re.escape(part) for position, part in enumerate(parts)
    )
    return re.compile(pattern)


def _outside_the_body(
    shape: StructureShape, http: Any, labels: Mapping[str, str]
) -> Iterator[tuple[str, Any]]:
    query = parse_qs(http.query_string.decode(), keep_blank_values=True)
    for name, member in shape.members.items():
        wire_name = member.serialization.get("name", name)
        location = member.serialization.get("location")
        if location == "uri":
            yield name, labels[wire_name]
        elif location == "querystring" and wire_name in query:
            values = query[wire_name]
            if member.type_name == "list":
                yield name, values
            elif member.type_name == "boolean":
                yield name, values[0] == "true"
            else:
                yield name, int(values[0]) if member.type_name == "integer" else values[0]


def _timestamp(value: Any) -> float:
    if isinstance(value, datetime):
        return value.timestamp()
    raise TypeError(f"{type(value).__name__} is no JSON")
