"""AWS Budgets of the double: moto's, which changes none and does not say who is told."""

from __future__ import annotations

import json
from typing import Any

from moto.budgets.exceptions import NotFoundException
from moto.budgets.responses import BudgetsResponse


def install() -> None:
    """Patch moto."""
    BudgetsResponse.update_budget = _update_budget  # type: ignore[attr-defined]
    BudgetsResponse.tag_resource = _tag  # type: ignore[attr-defined]
    BudgetsResponse.untag_resource = _untag  # type: ignore[attr-defined]
    BudgetsResponse.list_tags_for_resource = _tags  # type: ignore[attr-defined]
    BudgetsResponse.describe_subscribers_for_notification = _subscribers  # type: ignore[attr-defined]


def _update_budget(response: Any) -> str:
    new = response._get_param("NewBudget")
    found = response.backend.budgets[response._get_param("AccountId")].get(new["BudgetName"])
    if found is None:
        raise NotFoundException(f"Unable to update budget: {new['BudgetName']} - the budget doesn't exist.")
    found.budget = {**found.budget, **new}
    return json.dumps({})


def _tag(response: Any) -> str:
    _tags_of(response).update({tag["Key"]: tag["Value"] for tag in response._get_param("ResourceTags")})
    return json.dumps({})


def _untag(response: Any) -> str:
    for key in response._get_param("ResourceTagKeys"):
        _tags_of(response).pop(key, None)
    return json.dumps({})


def _tags(response: Any) -> str:
    tags = [{"Key": key, "Value": value} for key, value in _tags_of(response).items()]
    return json.dumps({"ResourceTags": tags})


def _tags_of(response: Any) -> dict[str, str]:
    arn = response._get_param("ResourceARN")
    _, _, _, _, account, name = arn.split(":", 5)
    found = response.backend.budgets[account].get(name.removeprefix("budget/"))
    if found is None:
        raise NotFoundException(f"There is no budget {arn}")
    tags: dict[str, str] = found.__dict__.setdefault("tags_in_double", {})
    return tags


def _subscribers(response: Any) -> str:
    budgets = response.backend.budgets[response._get_param("AccountId")]
    found = budgets.get(response._get_param("BudgetName"))
    asked = response._get_param("Notification")
    for one in [] if found is None else found.notifications:
        if one.details == asked:
            return json.dumps({"Subscribers": one.subscribers})
    raise NotFoundException("Unable to get subscribers - the notification doesn't exist.")
