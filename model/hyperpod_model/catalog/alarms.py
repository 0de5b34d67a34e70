"""How long an alarm of CloudWatch may look back."""

from __future__ import annotations

from hyperpod_model.catalog._tables import table

_TABLE = table("alarms")

SHORT_PERIODS: tuple[int, ...] = tuple(_TABLE["short_periods"])
"""Seconds that a period may have and that are no multiple of `WHOLE_MINUTES`."""

WHOLE_MINUTES: int = _TABLE["whole_minutes"]
"""All other periods are multiples of these seconds."""


def longest_seconds(period: int) -> int:
    """Return how far an alarm may look back, in seconds.

    Args:
        period: Its period, in seconds.
    """
    longest: dict[str, int] = _TABLE["longest_seconds"]
    return longest["long" if period >= _TABLE["long_period"] else "short"]
