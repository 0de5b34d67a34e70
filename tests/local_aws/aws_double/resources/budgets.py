"""Budgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double import ACCOUNT
from aws_double.naming import physical_name
from aws_double.property_changes import tag_changes
from aws_double.resource import Resource, ResourceType, resource_type
from aws_double.session import Session

_LONGEST_NAME = 100


@resource_type(
    "AWS::Budgets::Budget",
    properties="Budget NotificationsWithSubscribers ResourceTags",
    updatable="Budget ResourceTags",
)
class Budget(ResourceType):
    """A budget of the account, with those who are told."""

    def replaces(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
        renamed = before["Budget"].get("BudgetName") != after["Budget"].get("BudgetName")
        return renamed or super().replaces(before, after)

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        name = wanted["Budget"].get("BudgetName", physical_name(resource, limit=_LONGEST_NAME))
        session.call(
            "budgets",
            "create_budget",
            AccountId=ACCOUNT,
            Budget=_as_api(wanted["Budget"], name),
            NotificationsWithSubscribers=wanted.get("NotificationsWithSubscribers", []),
        )
        resource.physical_id = name
        _change_tags([], resource, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        changed = _as_api(after.properties["Budget"], after.physical_id)
        session.call("budgets", "update_budget", AccountId=ACCOUNT, NewBudget=changed)
        _change_tags(before.properties.get("ResourceTags", []), after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("budgets", "delete_budget", AccountId=ACCOUNT, BudgetName=resource.physical_id)


def _change_tags(before: list[dict[str, str]], after: Resource, session: Session) -> None:
    tags, gone = tag_changes({"Tags": before}, {"Tags": after.properties.get("ResourceTags", [])})
    arn = f"arn:aws:budgets::{ACCOUNT}:budget/{after.physical_id}"
    if tags:
        session.call("budgets", "tag_resource", ResourceARN=arn, ResourceTags=tags)
    if gone:
        session.call("budgets", "untag_resource", ResourceARN=arn, ResourceTagKeys=gone)


def _as_api(budget: Mapping[str, Any], name: str) -> dict[str, Any]:
    period = {key: float(value) for key, value in budget.get("TimePeriod", {}).items()}
    return {**budget, "BudgetName": name, **({"TimePeriod": period} if period else {})}
