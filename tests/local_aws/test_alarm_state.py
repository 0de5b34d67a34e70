"""States of alarms, against the tables of AWS's documentation."""

from __future__ import annotations

import pytest

from aws_double.services.alarm_state import MORE_PERIODS, alarm_state

KEPT = "the state until now"
OK, ALARM, UNKNOWN = "OK", "ALARM", "INSUFFICIENT_DATA"
TREATMENTS = ("missing", "ignore", "breaching", "notBreaching")


def values(row: str) -> dict[int, bool]:
    """A row of the tables, oldest first: 0 is good, X is bad, - is missing."""
    signs = row.split()
    return {len(signs) - 1 - at: sign == "X" for at, sign in enumerate(signs) if sign != "-"}


@pytest.mark.parametrize(
    ("row", "needed", "states"),
    [
        ("0 - X - X", 3, (OK, OK, OK, OK)),
        ("0 - - - -", 3, (OK, OK, OK, OK)),
        ("- - - - -", 3, (UNKNOWN, KEPT, ALARM, OK)),
        ("0 X X - X", 3, (ALARM, ALARM, ALARM, ALARM)),
        ("- - - - X", 3, (UNKNOWN, KEPT, ALARM, OK)),
        ("X - - - -", 3, (ALARM, KEPT, ALARM, OK)),
        ("0 - X - X", 2, (ALARM, ALARM, ALARM, ALARM)),
        ("0 0 X 0 X", 2, (ALARM, ALARM, ALARM, ALARM)),
        ("0 - X - -", 2, (OK, OK, ALARM, OK)),
        ("- - - - 0", 2, (OK, OK, ALARM, OK)),
        ("- - - - X", 2, (UNKNOWN, KEPT, ALARM, OK)),
    ],
)
def test_rows_of_the_tables(row: str, needed: int, states: tuple[str, ...]) -> None:
    assert len(row.split()) == 3 + MORE_PERIODS
    found = tuple(
        alarm_state(KEPT, values(row), evaluated=3, needed=needed, missing=treatment)
        for treatment in TREATMENTS
    )
    assert found == states


def test_missing_is_the_default_and_all_are_needed() -> None:
    assert alarm_state(KEPT, {}, evaluated=3) == UNKNOWN
    assert alarm_state(KEPT, values("0 X X"), evaluated=3) == OK
    assert alarm_state(KEPT, values("X X X"), evaluated=3) == ALARM


def test_another_treatment_is_refused() -> None:
    with pytest.raises(AssertionError, match="one of missing, ignore, breaching, notBreaching, got 'good'"):
        alarm_state(KEPT, {}, evaluated=1, missing="good")
