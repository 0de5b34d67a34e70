"""Turns away roles that no policy lets do what they ask EC2, FSx, CloudWatch Logs or SageMaker to do.

Coarse: some statement must allow the action on something. It is there to catch a handler that runs before its
role has its policy, or after. What a statement says of resources and conditions counts for S3 only, where
`services.authorization` judges.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from aws_double.permissions.conditions import as_list, like
from aws_double.permissions.principals import (
    Principal,
    UnknownKeyError,
    identity_policies,
    principal_of_key,
)
from aws_double.permissions.statements import statements

SERVICES: Final = frozenset({"ec2", "fsx", "logs", "sagemaker"})
"""Services, as requests are signed for them, whose operations are called as the actions that they need."""

_SIGNED = re.compile(r"Credential=(?P<key>[^/]+)/\d+/[^/]+/(?P<service>[^/]+)/")


class Gate:
    """The double's server behind a gate.

    Args:
        application: WSGI application of the server.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request, as WSGI asks to."""
        signed = _SIGNED.search(environ.get("HTTP_AUTHORIZATION", ""))
        if signed is not None and signed["service"] in SERVICES:
            action = f"{signed['service']}:{_operation(environ)}"
            who = _principal(signed["key"])
            if who is not None and not allows_somewhere(who, action):
                return _refused(who, action, start_response)
        answer: Iterable[bytes] = self._application(environ, start_response)
        return answer


def allows_somewhere(who: Principal, action: str) -> bool:
    """Tell whether some policy of a user or role allows an action on some resource."""
    return any(
        statement["Effect"] == "Allow" and _names(statement, action)
        for policy in identity_policies(who)
        for statement in statements(policy)
    )


def _names(statement: Any, action: str) -> bool:
    named = "Action" if "Action" in statement else "NotAction"
    found = any(like(action.lower(), pattern.lower()) for pattern in as_list(statement[named]))
    return found is (named == "Action")


def _principal(key: str) -> Principal | None:
    """Return the user or role behind a key; none for the account's root and for keys of nobody."""
    try:
        found = principal_of_key(key)
    except UnknownKeyError:
        return None
    return found if found.kind in {"AssumedRole", "User"} else None


def _operation(environ: dict[str, Any]) -> str:
    target: str | None = environ.get("HTTP_X_AMZ_TARGET")
    if target is not None:
        return target.rpartition(".")[2]
    body: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH", 0)))
    environ["wsgi.input"] = io.BytesIO(body)
    return parse_qs(body.decode()).get("Action", [""])[0]


def _refused(who: Principal, action: str, start_response: Any) -> Iterable[bytes]:
    message = (
        f"User: {who.session_arn if who.session_arn is not None else who.arn} is not authorized to perform: "
        f"{action} because no identity-based policy allows the {action} action"
    )
    if action.startswith("ec2:"):
        status, kind = "403 Forbidden", "text/xml"
        body = (
            "<Response><Errors><Error><Code>UnauthorizedOperation</Code>"
            f"<Message>{escape(message)}</Message></Error></Errors><RequestID>0</RequestID></Response>"
        )
    else:
        status, kind = "400 Bad Request", "application/x-amz-json-1.1"
        body = json.dumps({"__type": "AccessDeniedException", "message": message})
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body.encode())))])
    return [body.encode()]
