"""Whether a service may take a role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double.permissions.principals import service
from aws_double.permissions.request import Request, Value
from aws_double.permissions.statements import Said, said_by_resource_policy, statements


def service_may_assume(name: str, trust: Mapping[str, Any], keys: Mapping[str, Value] | None = None) -> bool:
    """Tell whether a role's trust lets a service take it.

    Args:
        name: Of the service, such as ``lambda.amazonaws.com``.
        trust: Trust policy of the role.
        keys: Condition keys of the request, besides those that tell of the service. By default none.
    """
    # The resource of a trust policy is the role itself, so its statements name none.
    document = {"Statement": [{**statement, "Resource": "*"} for statement in statements(trust)]}
    request = Request(service(name), "sts:AssumeRole", "*", {} if keys is None else keys)
    said = said_by_resource_policy(document, request)
    return Said.ALLOW in said and Said.DENY not in said
