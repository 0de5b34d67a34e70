"""Rules on a job's log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.jobs import FAULT_ON_MATCH, LOG_PATTERNS_BEGIN_LINES, OPERATORS
from hyperpod_model.checks.jobs.bounds import check_at_least
from hyperpod_model.checks.jobs.defaults import Job
from hyperpod_model.checks.reading import absent, at, below, given, items, structures, text
from hyperpod_model.faults import Fault
from hyperpod_model.monitored_output import (
    MONITORED_OUTPUT_FLAG,
    begins_with_text,
    command_keeps_output,
)

_TIMES = ("starts_within_seconds", "repeats_within_seconds", "data_points")


def check_log_monitoring(job: Job) -> list[Fault]:
    """Check the rules by which the HyperPod operator finds a job that hangs, is slow or went wrong.

    Args:
        job: The job.
    """
    if items(job, "log_monitoring") and at(job, "operator") == "kubeflow":
        return [Fault(("log_monitoring",), "is for operator 'hyperpod'; leave it out, or change operator")]
    faults = _check_output(job)
    names: set[str] = set()
    for index, rule in structures(job, "log_monitoring"):
        found = _check_rule(rule)
        name = text(rule, "name")
        if name in names:
            found.append(Fault(("name",), f"is that of an earlier rule, {name!r}; choose another"))
        names |= set() if name is None else {name}
        faults += below(("log_monitoring", index), found)
    return faults


def _check_output(job: Job) -> list[Fault]:
    command, environment = items(job, "command"), at(job, "environment")
    words = [word for word in command if isinstance(word, str)]
    if not items(job, "log_monitoring") or len(words) < len(command) or not isinstance(environment, dict):
        return []
    variables = {name: value if isinstance(value, str) else None for name, value in environment.items()}
    if command_keeps_output(words, variables) is not False:
        return []
    message = (
        f"keeps no standard output of each node's first process in a file, got {' '.join(words)!r}: the "
        "rules of log_monitoring see no line, and one with starts_within_seconds restarts the job for ever; "
        f"write {MONITORED_OUTPUT_FLAG} behind {OPERATORS['hyperpod'].launcher}, or --tee=3 to keep all"
    )
    return [Fault(("command",), message)]


def _check_rule(rule: Mapping[str, Any]) -> list[Fault]:
    faults = [*check_at_least(rule, _TIMES, 1), *_check_patterns(rule)]
    if absent(rule, "name") or text(rule, "name") == "":
        faults.append(Fault(("name",), "must not be empty"))
    compares = given(rule, "threshold") or given(rule, "comparison")
    if given(rule, "threshold") and absent(rule, "comparison"):
        faults.append(Fault(("comparison",), "is required with threshold: when the job is slow"))
    if given(rule, "comparison") and absent(rule, "threshold"):
        faults.append(Fault(("threshold",), "is required with comparison: the number compared with"))
    if given(rule, "data_points") and absent(rule, "comparison"):
        faults.append(Fault(("data_points",), "goes with comparison; leave it out"))
    if rule.get("fault_on_match") is True:
        faults.append(
            Fault(("fault_on_match",), f"may be refused: {FAULT_ON_MATCH.doubt}; try it first", "warning")
        )
    elif not compares and all(absent(rule, name) for name in _TIMES[:2]) and "fault_on_match" in rule:
        message = "says nothing: give starts_within_seconds, repeats_within_seconds, or a comparison"
        faults.append(Fault((), message))
    return faults


def _check_patterns(rule: Mapping[str, Any]) -> list[Fault]:
    faults = []
    for field in ("pattern", "stop_pattern"):
        value = text(rule, field)
        if value is None:
            continue
        try:
            groups = re.compile(value).groups
        except re.error as error:
            faults.append(Fault((field,), f"is no regular expression: {error}, got {value!r}"))
            continue
        if not value:
            faults.append(Fault((field,), "must not be empty, which every line matches"))
        elif field == "pattern" and given(rule, "comparison") and groups != 1:
            message = f"must have one group, in parentheses, around the number to compare, got {groups}"
            faults.append(Fault((field,), f"{message}; write (?:...) for those that only group"))
        if LOG_PATTERNS_BEGIN_LINES.value and begins_with_text(value):
            message = (
                "is matched from the start of a line, so that one with a time or a name before it does not "
                f"count, got {value!r}; begin it with '.*', or with '^' if lines begin so"
            )
            faults.append(Fault((field,), message, "warning"))
    return faults
