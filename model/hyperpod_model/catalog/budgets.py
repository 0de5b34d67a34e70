"""Budgets of AWS, and how long a fleet may be idle before an alarm tells of it."""

from __future__ import annotations

from hyperpod_model.catalog._tables import table

_TABLE = table("budgets")

BUDGET_TYPE: str = _TABLE["type"]
"""CloudFormation type."""

MOST_ALERTS: int = _TABLE["most_alerts"]
"""Notifications of one budget."""

MOST_EMAILS: int = _TABLE["most_emails"]
"""Addresses of one notification, beside one topic."""

PERCENT: tuple[float, float] = tuple(_TABLE["percent"])
"""Least and most of a threshold."""

FORECAST_NEEDS_WEEKS: int = _TABLE["forecast_needs_weeks"]
"""Weeks of spending that AWS wants to see before it forecasts."""

TAG_FILTER: str = _TABLE["tag_filter"]

COST_SERVICE: str = _TABLE["cost_service"]
"""What is in the name of the service that charges nodes, in filters of budgets."""

SPENDING_TYPES: tuple[str, ...] = tuple(_TABLE["spending_types"])
"""Types of budgets that count what is spent, not how well a commitment is used."""

COSTLY_TYPES: tuple[str, ...] = tuple(_TABLE["costly_types"])
"""CloudFormation types that cost by the hour or by what they hold, and whose costs carry their tags."""

DEFAULT_COST_ALLOCATION_TAG: str = _TABLE["default_cost_allocation_tag"]

IDLE_HOURS: tuple[int, int] = tuple(_TABLE["idle_hours"])
"""Least and most hours of one alarm: CloudWatch looks at a period of at most a day."""


def tag_filter_value(key: str, value: str) -> str:
    """How a budget names what has a tag. The tag must be activated as a cost allocation tag.

    Args:
        key: Key of the tag, which users gave, not AWS.
        value: Its value.
    """
    template: str = _TABLE["tag_filter_value"]
    return template.format(key=key, value=value)
