"""Prints at the end what became of the mutants of the hardened templates, whichever process judged them."""

from __future__ import annotations

import pytest

PROPERTY = "mutants"
"""User property of the test reports that have something to print."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = [
        value
        for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
        for name, value in getattr(report, "user_properties", ())
        if name == PROPERTY and report.when == "call"
    ]
    if lines:
        terminalreporter.section("weakenings of the hardened templates")
        for line in lines:
            terminalreporter.write_line(line)
