"""Prints at the end of a run how long each step of the end-to-end tests took, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_WHERE = "tests/end_to_end/"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a table, also where the tests ran in other processes."""
    reports = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "nodeid", "").startswith(_WHERE) and hasattr(report, "duration")
    ]
    if not reports:
        return
    terminalreporter.section("steps of the end-to-end tests, in seconds")
    for line in lines_of(reports):
        terminalreporter.write_line(line)


def lines_of(reports: Iterable[Any]) -> list[str]:
    """Return the table: set-up and tear-down count to the step at which they were.

    Args:
        reports: Reports of pytest.
    """
    files: dict[str, dict[str, float]] = {}
    for report in reports:
        file, _, step = report.nodeid.partition("::")
        steps = files.setdefault(file.removeprefix(_WHERE), {})
        steps[step] = steps.get(step, 0.0) + report.duration
    lines = []
    for file, steps in files.items():
        lines.append(f"{sum(steps.values()):7.1f}  {file}")
        lines += [f"{seconds:7.1f}      {step}" for step, seconds in steps.items()]
    return lines
