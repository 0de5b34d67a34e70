"""AWS clients that talk to the double as one principal, and refuse what the real API model refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import boto3
import botocore.session
from botocore.config import Config
from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, Shape, StructureShape
from botocore.validate import ParamValidator


class InvalidRequestError(Exception):
    """A request that the real service's API model does not admit."""


class Session:
    """One principal's view of the double.

    Args:
        endpoint: Address of the double, such as ``http://127.0.0.1:5601``.
        region: Region of the clients.
        access_key: Key that says who asks. By default the account's root.
        secret_key: Its secret; the double does not check signatures.
        session_token: Token of an assumed role's session. By default none.
    """

    def __init__(
        self,
        *,
        endpoint: str,
        region: str,
        access_key: str = "root",
        secret_key: str = "unchecked",
        session_token: str | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.region = region
        self._credentials = {
            "AWS_ACCESS_KEY_ID": access_key,
            "AWS_SECRET_ACCESS_KEY": secret_key,
            **({} if session_token is None else {"AWS_SESSION_TOKEN": session_token}),
        }
        core = botocore.session.Session()
        core.register_component("data_loader", _loader())
        self._session = boto3.Session(
            botocore_session=core,
            aws_access_key_id=access_key,
            aws_secret_access_key=secret_key,
            aws_session_token=session_token,
            region_name=region,
        )
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        """Return the boto3 client of a service."""
        if service not in self._clients:
            self._clients[service] = self._session.client(
                service,
                endpoint_url=self.endpoint,
                config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
            )
        return self._clients[service]

    def environment(self) -> dict[str, str]:
        """Return the environment in which a program sees the double as this principal does."""
        return {
            **self._credentials,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
        }

    def assume(self, role_arn: str, *, name: str = "session") -> Session:
        """Return the view of a role."""
        given = self.client("sts").assume_role(RoleArn=role_arn, RoleSessionName=name)["Credentials"]
        return Session(
            endpoint=self.endpoint,
            region=self.region,
            access_key=given["AccessKeyId"],
            secret_key=given["SecretAccessKey"],
            session_token=given["SessionToken"],
        )

    def call(self, service: str, operation: str, /, **parameters: Any) -> dict[str, Any]:
        """Check a request against the API model, coerced as CloudFormation coerces, and send it.

        Args:
            service: Such as ``ec2``.
            operation: In boto3's spelling, such as ``create_vpc``.
            parameters: The request; keys may differ in case from the model's, numbers may be text.

        Raises:
            InvalidRequestError: If the model does not admit it.
            ClientError: If the double refuses it.
        """
        request = self.checked(service, operation, parameters)
        sent: dict[str, Any] = getattr(self.client(service), operation)(**request)
        return sent

    def checked(self, service: str, operation: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request as the API model wants it.

        Raises:
            InvalidRequestError: If the model does not admit it.
        """
        meta = self.client(service).meta
        shape = meta.service_model.operation_model(meta.method_to_api_mapping[operation]).input_shape
        request: dict[str, Any] = _coerced(shape, dict(parameters))
        problems = model_violations(shape, request)
        if problems:
            raise InvalidRequestError(f"{service}:{operation}: " + "; ".join(problems))
        return request


def model_violations(shape: Shape, request: Mapping[str, Any]) -> list[str]:
    """Say everything in a request, or in an answer, that the API model does not admit.

    Args:
        shape: What the model says of it.
        request: Its members.
    """
    report = ParamValidator().validate(request, shape)
    problems = [report.generate_report()] if report.has_errors() else []
    return problems + _violations(shape, request, "")


@cache
def _loader() -> Loader:
    """Return the one reader of API models, which takes long to read each for the first time."""
    return Loader()


def _coerced(shape: Shape, value: Any) -> Any:
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        members = {name.lower(): name for name in shape.members}
        coerced = {}
        for key, item in value.items():
            name = members.get(key.lower(), key)
            coerced[name] = _coerced(shape.members[name], item) if name in shape.members else item
        return coerced
    if isinstance(shape, ListShape) and isinstance(value, list):
        return [_coerced(shape.member, item) for item in value]
    if isinstance(shape, MapShape) and isinstance(value, list):
        return {item["Key"]: item["Value"] for item in value}
    kind = shape.type_name
    if kind in {"integer", "long"} and isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return int(value)
    if kind in {"float", "double"} and isinstance(value, str):
        return float(value)
    if kind == "boolean" and value in {"true", "false"}:
        return value == "true"
    if kind == "string" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if kind == "string" and isinstance(value, Mapping):
        return json.dumps(value)
    return value


def _violations(shape: Shape, value: Any, path: str) -> list[str]:
    """List what botocore's own validation leaves to the service: enumerations, upper bounds and patterns."""
    found: list[str] = []
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        for key, item in value.items():
            if key in shape.members:
                found += _violations(shape.members[key], item, f"{path}.{key}".lstrip("."))
        return found
    limits = shape.metadata
    if isinstance(shape, ListShape) and isinstance(value, list):
        if len(value) > limits.get("max", len(value)):
            found.append(f"{path}: {len(value)} items, at most {limits['max']}")
        for position, item in enumerate(value):
            found += _violations(shape.member, item, f"{path}[{position}]")
        return found
    allowed = limits.get("enum")
    if allowed and value not in allowed:
        found.append(f"{path}: {value!r} is none of {', '.join(allowed)}")
    if isinstance(value, str):
        if len(value) > limits.get("max", len(value)):
            found.append(f"{path}: {len(value)} characters, at most {limits['max']}")
        if "pattern" in limits and not _matches(limits["pattern"], value):
            found.append(f"{path}: {value!r} does not match {limits['pattern']}")
    elif isinstance(value, int) and not isinstance(value, bool) and value > limits.get("max", value):
        found.append(f"{path}: {value}, at most {limits['max']}")
    return found


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.fullmatch(pattern, value) is not None
    except re.error:  # a pattern in Java's dialect that Python does not read
        return True
