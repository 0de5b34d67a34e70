from __future__ import annotations

from typing import Any

from plain_jobs import HYPERPOD, Case, faults_of, table_tests


def rules(*given: dict[str, Any]) -> dict[str, Any]:
    return HYPERPOD | {"log_monitoring": list(given)}


HANG = {"name": "hang", "pattern": "step (\\d+)", "repeats_within_seconds": 600}
SLOW = {"name": "slow", "pattern": "step_time=(\\d+)", "threshold": 5, "comparison": "gt", "data_points": 3}


def rule(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return rules(base | changes)


WHERE = ("log_monitoring", 0)
CASES = [
    Case({"log_monitoring": [HANG]}, ("log_monitoring",), "is for operator 'hyperpod'"),
    Case(rules(HANG, HANG), ("log_monitoring", 1, "name"), "is that of an earlier rule, 'hang'"),
    Case(rule(HANG, name=""), (*WHERE, "name"), "must not be empty"),
    Case(rule(HANG, pattern="("), (*WHERE, "pattern"), "is no regular expression: .*got '\\('"),
    Case(rule(HANG, pattern=""), (*WHERE, "pattern"), "must not be empty"),
    Case(rule(HANG, stop_pattern="["), (*WHERE, "stop_pattern"), "is no regular expression"),
    Case(rule(HANG, repeats_within_seconds=None), WHERE, "says nothing"),
    Case(rule(HANG, repeats_within_seconds=0), (*WHERE, "repeats_within_seconds"), "must be 1 or more"),
    Case(rule(SLOW, comparison=None, data_points=None), (*WHERE, "comparison"), "is required with threshold"),
    Case(rule(SLOW, threshold=None), (*WHERE, "threshold"), "is required with comparison"),
    Case(rule(SLOW, pattern="step_time"), (*WHERE, "pattern"), "must have one group.*got 0"),
    Case(rule(SLOW, pattern="(a)(b)"), (*WHERE, "pattern"), "got 2; write \\(\\?:"),
    Case(rule(HANG, data_points=2), (*WHERE, "data_points"), "goes with comparison"),
    Case(
        rule(HANG, fault_on_match=True),
        (*WHERE, "fault_on_match"),
        "may be refused: the documentation",
        "warning",
    ),
]
LEGAL = [
    rules(HANG, SLOW),
    rule(HANG, starts_within_seconds=60, stop_pattern="done"),
    rule(SLOW, pattern="(?:a|b)=(\\d+)"),
]


def test_a_loss_that_is_not_a_number_needs_nothing_but_its_pattern() -> None:
    [fault] = faults_of(**rules({"name": "nan", "pattern": "loss=nan", "fault_on_match": True}))
    assert fault.severity == "warning"


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
