"""A test says which programs it needs; without them it is skipped at home and fails in CI.

    @pytest.mark.needs_system("bash", "git")

A skip for any other reason fails in CI as well: there, a test that did not run proves nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from typing import Any

import pytest


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs_system(*programs): the programs on the PATH that the test runs")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for marker in item.iter_markers("needs_system"):
            missing = [program for program in marker.args if shutil.which(program) is None]
            if missing:
                item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(missing)} on the PATH"))


def _fail_if_skipped(report: Any) -> Any:
    if report.skipped and in_ci() and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"skipped, which fails in CI: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    return _fail_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    return _fail_if_skipped((yield))
