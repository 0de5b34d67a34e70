"""Who is told about a cluster, and for how long its logs are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hyperpod_model.catalog.logs import RETENTION_DAYS
from hyperpod_model.catalog.names import EMAIL_ADDRESS
from hyperpod_model.checks.reading import is_unknown
from hyperpod_model.faults import Fault

LEAST_RETENTION_DAYS = 30
"""A judgement, no fact of AWS: a run lasts for weeks, and what broke it is asked about afterwards."""


def check_emails(addresses: Sequence[Any]) -> list[Fault]:
    """Check e-mail addresses: their form, and that none is given twice.

    Args:
        addresses: The addresses; any of them may be ``UNKNOWN``.
    """
    faults = []
    seen: dict[str, int] = {}
    for index, address in enumerate(addresses):
        if is_unknown(address):
            continue
        if not isinstance(address, str) or not EMAIL_ADDRESS.matches(address):
            faults.append(Fault((index,), f"must be {EMAIL_ADDRESS.in_words}, got {address!r}"))
            continue
        if address in seen:
            faults.append(Fault((index,), f"{address!r} is given twice, here and at {seen[address]}"))
        seen.setdefault(address, index)
    return faults


def check_log_retention(days: Any) -> list[Fault]:
    """Check for how many days logs are kept: a number that CloudWatch Logs takes, and long enough.

    Args:
        days: Number of days, or ``UNKNOWN``.
    """
    if is_unknown(days):
        return []
    if isinstance(days, bool) or days not in RETENTION_DAYS:
        listed = ", ".join(map(str, RETENTION_DAYS))
        return [Fault((), f"must be one of {listed}, which CloudWatch Logs takes, got {days!r}")]
    if days < LEAST_RETENTION_DAYS:
        return [
            Fault(
                (),
                f"is {days}, so the log of a failure is gone before a run of weeks is looked into; "
                f"keep it for {LEAST_RETENTION_DAYS} days or more",
                severity="warning",
            )
        ]
    return []
