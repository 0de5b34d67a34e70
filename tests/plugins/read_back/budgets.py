"""Reads budgets back."""

from __future__ import annotations

from typing import Any

from read_back import Clients, reads
from read_back.narrowing import as_asked, own_tags


@reads("AWS::Budgets::Budget")
def budget(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a budget with its notifications and who gets them."""
    account = clients.client("sts").get_caller_identity()["Account"]
    budgets = clients.client("budgets")
    of_it = {"AccountId": account, "BudgetName": physical_id}
    found = budgets.describe_budget(**of_it)["Budget"]
    period = {key: str(int(value.timestamp())) for key, value in found.get("TimePeriod", {}).items()}
    limit = found.get("BudgetLimit", {})
    told = {**found, "TimePeriod": period}
    if limit:
        told["BudgetLimit"] = {**limit, "Amount": float(limit["Amount"])}
    notifications = [
        {
            "Notification": one,
            "Subscribers": budgets.describe_subscribers_for_notification(**of_it, Notification=one)[
                "Subscribers"
            ],
        }
        for one in budgets.describe_notifications_for_budget(**of_it)["Notifications"]
    ]
    arn = f"arn:aws:budgets::{account}:budget/{physical_id}"
    tags = budgets.list_tags_for_resource(ResourceARN=arn)["ResourceTags"]
    own = own_tags(tags, {"Tags": wanted.get("ResourceTags", [])})
    return {
        **({"ResourceTags": own["Tags"]} if own else {}),
        "Budget": as_asked(told, wanted["Budget"]),
        "NotificationsWithSubscribers": as_asked(
            notifications, wanted.get("NotificationsWithSubscribers", notifications)
        ),
    }
