"""Which state an alarm has, from the values of the periods that CloudWatch looks at.

CloudWatch looks at more periods than an alarm evaluates, so that it has enough of them that are not missing.
How many, it does not say, but that it is five in its example with three: this double takes two more.

- With as many values as are evaluated, the newest of them count, wherever the gaps are.
- With fewer, missing ones are good or bad as the alarm says, as few of them as needed. With ``ignore`` the
  state stays if all that is there is bad and not enough for an alarm. So it is with ``missing``, where the
  state becomes ``INSUFFICIENT_DATA``; but if the oldest value is as many periods old as are needed for an
  alarm, it begins.
- Without any value the state is what the alarm says of missing ones.

Source: CloudWatch user guide, AlarmThatSendsEmail: how alarm state is evaluated when data is missing, whose
tables are among the tests.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Final

MORE_PERIODS: Final = 2

ON: Final = "ALARM"
OFF: Final = "OK"
UNKNOWN: Final = "INSUFFICIENT_DATA"

COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "GreaterThanOrEqualToThreshold": operator.ge,
    "GreaterThanThreshold": operator.gt,
    "LessThanThreshold": operator.lt,
    "LessThanOrEqualToThreshold": operator.le,
}
_MISSING: Final = ("missing", "ignore", "breaching", "notBreaching")


def alarm_state(
    before: str,
    bad: Mapping[int, bool],
    *,
    evaluated: int,
    needed: int | None = None,
    missing: str | None = None,
) -> str:
    """Return the state.

    Args:
        before: The state until now.
        bad: Whether a value breaches, by the number of its period; 0 is the newest.
        evaluated: Periods that are evaluated.
        needed: How many of them must breach. Default: all.
        missing: How missing data is treated. Default: as missing.
    """
    treatment = "missing" if missing is None else missing
    if treatment not in _MISSING:
        raise AssertionError(f"missing data is one of {', '.join(_MISSING)}, got {treatment!r}")
    enough = evaluated if needed is None else needed
    newest = [bad[at] for at in sorted(bad)][:evaluated]
    breaching = sum(newest)
    if breaching >= enough:
        return ON
    if len(newest) == evaluated:
        return OFF
    if treatment == "breaching":
        return ON if breaching + evaluated - len(newest) >= enough else OFF
    if treatment == "notBreaching" or breaching < len(newest):
        return OFF
    if treatment == "ignore":
        return before
    return ON if newest and max(bad) + 1 >= enough else UNKNOWN
