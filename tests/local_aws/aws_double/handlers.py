"""Runs the function behind a custom resource: its code from the template, as its role, against the double.

Stand-ins, for want of AWS Lambda: this Python interpreter instead of the function's runtime, a child process
instead of an instance of the function, and ``cfnresponse``, which leaves the answer in a file.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import uuid
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moto.awslambda.models import lambda_backends

from aws_double import ACCOUNT
from aws_double.resource import Resource, ResourceFailure
from aws_double.session import Session

_RUNS = 3
"""AWS Lambda invokes an asynchronous event that failed twice more."""
_STARTING_SECONDS = 30
_MAIN = Path(__file__).parent / "handler_process" / "invoke.py"


@dataclass(frozen=True)
class Answer:
    """What a handler told CloudFormation.

    Attributes:
        physical_id: Physical id of the resource.
        data: Attributes for ``Fn::GetAtt``.
    """

    physical_id: str
    data: dict[str, Any]


def function_of(resource: Resource, session: Session) -> dict[str, Any]:
    """Return the configuration of the function behind a custom resource.

    Raises:
        ClientError: If there is none.
    """
    token = resource.properties["ServiceToken"]
    configuration: dict[str, Any] = session.call("lambda", "get_function", FunctionName=token)[
        "Configuration"
    ]
    return configuration


def role_session(resource: Resource, session: Session) -> Session:
    """Return what the function behind a custom resource sees: its role's view of the double."""
    function = function_of(resource, session)
    return session.assume(function["Role"], name=function["FunctionName"][:64])


def run(
    resource: Resource,
    session: Session,
    request_type: str,
    *,
    old_properties: dict[str, Any] | None = None,
) -> Answer:
    """Run the handler of a custom resource as CloudFormation has it run.

    Args:
        resource: The resource, with its physical id unless it is to be created.
        session: The stack's.
        request_type: ``Create``, ``Update`` or ``Delete``.
        old_properties: Properties before an update.

    Raises:
        ResourceFailure: If the handler answers that it failed, or not at all.
    """
    function = function_of(resource, session)
    event = _event(resource, request_type, old_properties)
    with tempfile.TemporaryDirectory(prefix="aws-double-handler-") as folder:
        place = Path(folder)
        answer = place / "answer.json"
        event["ResponseURL"] = str(answer)
        (place / "event.json").write_text(json.dumps(event), encoding="utf-8")
        _unpack(function, place / "code")
        output = ""
        for _ in range(_RUNS):
            output = _invoke(function, session, place)
            if answer.exists():
                return _answer(json.loads(answer.read_text(encoding="utf-8")))
    raise ResourceFailure(
        "CloudFormation did not receive a response from your custom resource: "
        f"{function['FunctionName']} ran {_RUNS} times, the last ending with: {output[-800:].strip()}"
    )


def _answer(said: dict[str, Any]) -> Answer:
    if said["Status"] != "SUCCESS":
        raise ResourceFailure(
            f"received response status [{said['Status']}] from custom resource: {said['Reason']}"
        )
    return Answer(physical_id=said["PhysicalResourceId"], data=said.get("Data") or {})


def _event(resource: Resource, request_type: str, old_properties: dict[str, Any] | None) -> dict[str, Any]:
    event = {
        "RequestType": request_type,
        "RequestId": str(uuid.uuid4()),
        "StackId": resource.stack_id,
        "LogicalResourceId": resource.logical_id,
        "ResourceType": resource.type,
        "ServiceToken": resource.properties["ServiceToken"],
        "ResourceProperties": _as_text(resource.properties),
    }
    if request_type != "Create":
        event["PhysicalResourceId"] = resource.physical_id
    if old_properties is not None:
        event["OldResourceProperties"] = _as_text(old_properties)
    return event


def _as_text(value: Any) -> Any:
    """Return properties as CloudFormation hands them to handlers: numbers and booleans as text."""
    if isinstance(value, dict):
        return {key: _as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None else str(value)


def _unpack(function: dict[str, Any], folder: Path) -> None:
    if not function["Runtime"].startswith("python"):
        raise ResourceFailure(
            f"{function['FunctionName']}: this double runs Python handlers only, got {function['Runtime']}"
        )
    region = function["FunctionArn"].split(":")[3]
    code = lambda_backends[ACCOUNT][region].get_function(function["FunctionArn"]).code_bytes
    with zipfile.ZipFile(io.BytesIO(code)) as archive:
        archive.extractall(folder)


def _invoke(function: dict[str, Any], session: Session, place: Path) -> str:
    """Run the function once and return what it printed."""
    role = session.assume(function["Role"], name=function["FunctionName"][:64])
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPYCACHEPREFIX") if name in os.environ}
    environment = {
        **kept,
        **function.get("Environment", {}).get("Variables", {}),
        **role.environment(),
        "AWS_LAMBDA_FUNCTION_NAME": function["FunctionName"],
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    command = [sys.executable, str(_MAIN), str(place / "code"), function["Handler"]]
    command += [str(place / "event.json"), str(function["Timeout"])]
    try:
        run = subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=function["Timeout"] + _STARTING_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"Task timed out after {function['Timeout']} seconds"
    return run.stdout
