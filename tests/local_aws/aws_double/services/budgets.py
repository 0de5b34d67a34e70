"""AWS Budgets of the double: moto's, which changes none and does not say who is told."""

from __future__ import annotations

import json
from typing import Any

from moto.budgets.exceptions import NotFoundException
from moto.budgets.responses import BudgetsResponse


def install() -> None:
    """Patch moto."""
    BudgetsResponse.update_budget = _update_budget  # type: ignore[attr-defined]
    BudgetsResponse.describe_subscribers_for_notification = _subscribers  # type: ignore[attr-defined]


def _update_budget(response: Any) -> str:
    new = response._get_param("NewBudget")
    found = response.backend.budgets[response._get_param("AccountId")].get(new["BudgetName"])
    if found is None:
        raise NotFoundException(f"Unable to update budget: {new['BudgetName']} - the budget doesn't exist.")
    found.budget = {**found.budget, **new}
    return json.dumps({})


def _subscribers(response: Any) -> str:
    budgets = response.backend.budgets[response._get_param("AccountId")]
    found = budgets.get(response._get_param("BudgetName"))
    asked = response._get_param("Notification")
    for one in [] if found is None else found.notifications:
        if one.details == asked:
            return json.dumps({"Subscribers": one.subscribers})
    raise NotFoundException("Unable to get subscribers - the notification doesn't exist.")
