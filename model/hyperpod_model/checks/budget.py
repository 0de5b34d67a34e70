"""A budget, and the alarm on a fleet without a job."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from hyperpod_model.catalog.budgets import IDLE_HOURS, MOST_ALERTS, MOST_EMAILS, PERCENT
from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.checks.observability import check_emails
from hyperpod_model.checks.reading import below, is_unknown
from hyperpod_model.checks.shape import check_shape
from hyperpod_model.faults import Fault, Unknown

_RESERVED_TAGS = "aws:"


def check_budget(said: Mapping[str, Any]) -> list[Fault]:
    """Check a budget and what goes with it.

    Args:
        said: ``limit_usd``, ``start_date``, ``end_date``, ``actual_alert_percentages``,
            ``forecast_alert_percentages``, ``emails``, ``cost_allocation_tag``, ``idle_hours`` and
            ``cost_per_hour_usd``; None for none. Without ``limit_usd`` there is no budget, and only the alarm
            on an idle fleet. Any value may be ``UNKNOWN``.

    Returns:
        Faults whose paths begin with the name of a value.
    """
    limit, hours = said["limit_usd"], said["idle_hours"]
    faults = [
        *below(("limit_usd",), [] if limit is None else _check_amount(limit)),
        *_check_dates(said["start_date"], said["end_date"]),
        *_check_alerts(said["actual_alert_percentages"], said["forecast_alert_percentages"]),
        *_check_readers(said["emails"]),
        *below(("cost_allocation_tag",), _check_tag(said["cost_allocation_tag"])),
        *below(("idle_hours",), _check_hours(hours)),
    ]
    if limit is None and hours is None:
        message = (
            "is missing, and idle_hours is off, so that nothing is watched; give one of both, or no budget"
        )
        faults.append(Fault(("limit_usd",), message))
    cost = said["cost_per_hour_usd"]
    if cost is None:
        return faults
    faults += below(("cost_per_hour_usd",), _check_amount(cost))
    if hours is None:
        message = "is stated by the alarm on an idle fleet, which is off; give idle_hours, or leave it out"
        faults.append(Fault(("cost_per_hour_usd",), message, "warning"))
    return faults


def check_cost_tag_value(value: Any) -> list[Fault]:
    """Check the value of a tag by which costs are counted.

    Args:
        value: The value, ``UNKNOWN``, or None for that of the cluster.
    """
    if value is None or is_unknown(value):
        return []
    item = cluster_request().at("Tags").item
    assert item is not None
    return below(("cost_allocation_tag_value",), list(check_shape(value, item.at("Value"), ())))


def check_without_limit(said: Mapping[str, Any]) -> list[Fault]:
    """Refuse what is said of a budget that is not made.

    Args:
        said: Values of the budget alone, by name, as far as the user gave them. Any may be ``UNKNOWN``.
    """
    return [
        Fault(
            (name,), "is for a budget, of which there is none without limit_usd; give it, or leave this out"
        )
        for name, value in said.items()
        if is_unknown(value) or value
    ]


def _check_amount(amount: Any) -> list[Fault]:
    if is_unknown(amount):
        return []
    is_number = isinstance(amount, (int, float)) and not isinstance(amount, bool)
    if not is_number or not math.isfinite(amount) or amount <= 0:
        return [Fault((), f"must be an amount of US dollars above 0, got {amount!r}")]
    return []


def _check_dates(start: Any, end: Any) -> Iterator[Fault]:
    if start is None and end is None:
        return
    for name, said, other in (("start_date", start, "end_date"), ("end_date", end, "start_date")):
        if said is None:
            yield Fault(
                (name,), f"is required with {other}: a campaign has both, a monthly budget neither of them"
            )
    first, last = _date(start), _date(end)
    for name, said, found in (("start_date", start, first), ("end_date", end, last)):
        if said is not None and not is_unknown(said) and found is None:
            yield Fault((name,), f"must be a date such as '2027-03-31', got {said!r}")
    if first is not None and last is not None and first >= last:
        yield Fault(("end_date",), f"must be after start_date {start!r}, got {end!r}")


def _date(said: Any) -> date | None:
    try:
        return date.fromisoformat(said) if isinstance(said, str) else None
    except ValueError:
        return None


def _check_alerts(actual: Any, forecast: Any) -> Iterator[Fault]:
    given: list[Any] = []
    for name, percentages in (("actual_alert_percentages", actual), ("forecast_alert_percentages", forecast)):
        if isinstance(percentages, Unknown):
            return
        given += percentages
        for index, percent in enumerate(percentages):
            yield from below((name, index), _check_percent(percent, percentages[:index]))
    if not given:
        yield Fault(("actual_alert_percentages",), "is empty, and so is forecast_alert_percentages: nobody "
                    "would hear; give percentages of limit_usd, such as 80 and 100")  # fmt: skip
    elif len(given) > MOST_ALERTS:
        message = f"and forecast_alert_percentages must be {MOST_ALERTS} or fewer together, got {len(given)}"
        yield Fault(("actual_alert_percentages",), message)


def _check_percent(percent: Any, before: Sequence[Any]) -> list[Fault]:
    least, most = PERCENT
    if is_unknown(percent):
        return []
    if isinstance(percent, bool) or not isinstance(percent, (int, float)) or not least <= percent <= most:
        return [Fault((), f"must be {least} to {most:g} percent of limit_usd, got {percent!r}")]
    return [Fault((), f"{percent!r} is given twice; leave one out")] if percent in before else []


def _check_readers(emails: Any) -> list[Fault]:
    if is_unknown(emails):
        return []
    faults = below(("emails",), check_emails(emails))
    if len(emails) > MOST_EMAILS:
        message = f"must be {MOST_EMAILS} or fewer, got {len(emails)}; give a distribution list"
        faults.append(Fault(("emails",), message))
    return faults


def _check_tag(key: Any) -> list[Fault]:
    if is_unknown(key):
        return []
    item = cluster_request().at("Tags").item
    assert item is not None
    faults = list(check_shape(key, item.at("Key"), ()))
    if not faults and key.lower().startswith(_RESERVED_TAGS):
        faults.append(Fault((), f"must not begin with {_RESERVED_TAGS}, whose tags AWS sets, got {key!r}"))
    return faults


def _check_hours(hours: Any) -> list[Fault]:
    least, most = IDLE_HOURS
    if hours is None or is_unknown(hours):
        return []
    if isinstance(hours, bool) or not isinstance(hours, int) or not least <= hours <= most:
        return [Fault((), f"must be a whole number of hours from {least} to {most}, got {hours!r}")]
    return []
