from __future__ import annotations

from typing import Any

import pytest
from plain_jobs import HYPERPOD, Case, faults_of, table_tests

from hyperpod_model.faults import UNKNOWN


def rules(*given: dict[str, Any]) -> dict[str, Any]:
    return HYPERPOD | {"log_monitoring": list(given)}


HANG = {"name": "hang", "pattern": ".*step (\\d+)", "repeats_within_seconds": 600}
SLOW = {"name": "slow", "pattern": ".*step_time=(\\d+)", "threshold": 5, "comparison": "gt", "data_points": 3}


def rule(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return rules(base | changes)


def command(*words: str, **changes: Any) -> dict[str, Any]:
    return rules(HANG) | {"script": None, "command": list(words)} | changes


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
    Case(
        rule(HANG, pattern="step (\\d+)"),
        (*WHERE, "pattern"),
        "is matched from the start of a line.*got 'step .*begin it with '\\.\\*'",
        "warning",
    ),
    Case(rule(HANG, stop_pattern="done"), (*WHERE, "stop_pattern"), "from the start of a line", "warning"),
    Case(
        command("hyperpodrun", "a.py"),
        ("command",),
        "keeps no standard output.*got 'hyperpodrun a.py'.*; write --tee=0:1 behind hyperpodrun",
    ),
    Case(command("hyperpodrun", "--tee=2", "a.py"), ("command",), "keeps no standard output"),
    Case(command("hyperpodrun", "-r", "1:3", "a.py"), ("command",), "keeps no standard output"),
    Case(command("bash", "-c", "exec hyperpodrun a.py --tee=3"), ("command",), "keeps no standard output"),
    Case(
        command("hyperpodrun", "a.py", environment={"PET_TEE": "2"}), ("command",), "keeps no standard output"
    ),
]
LEGAL = [
    rules(HANG, SLOW),
    rule(HANG, starts_within_seconds=60, stop_pattern=".*done"),
    rule(SLOW, pattern=".*(?:a|b)=(\\d+)"),
    rule(HANG, pattern="^step"),
    command("hyperpodrun", "--tee=0:1", "a.py"),
    command("hyperpodrun", "--redirects", "3", "a.py"),
    command("hyperpodrun", "a.py", environment={"PET_TEE": "3"}),
    command("bash", "-c", "exec hyperpodrun -t 3 a.py"),
    command("bash", "-c", "exec hyperpodrun $ARGS a.py"),
    command("/opt/run-hyperpodrun.sh"),
    command("hyperpodrun", "a.py", log_monitoring=[]),
]


def test_a_loss_that_is_not_a_number_needs_nothing_but_its_pattern() -> None:
    [fault] = faults_of(**rules({"name": "nan", "pattern": ".*loss=nan", "fault_on_match": True}))
    assert fault.severity == "warning"


@pytest.mark.parametrize("changes", [{"log_monitoring": UNKNOWN}, {"environment": UNKNOWN}], ids=str)
def test_what_is_known_only_later_keeps_the_command(changes: dict[str, Any]) -> None:
    said = command("hyperpodrun", "a.py") | changes
    assert [fault for fault in faults_of(**said) if fault.path == ("command",)] == []


def test_a_word_that_is_known_only_later_keeps_the_command() -> None:
    said = command("hyperpodrun", "a.py") | {"command": ["hyperpodrun", UNKNOWN, "a.py"]}
    assert faults_of(**said) == []


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
