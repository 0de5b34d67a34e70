"""The table of seconds at the end of a run."""

from __future__ import annotations

from types import SimpleNamespace

from step_times import lines_of


def report(step: str, seconds: float) -> SimpleNamespace:
    return SimpleNamespace(nodeid=f"tests/end_to_end/{step}", duration=seconds)


def test_set_up_and_tear_down_count_to_their_step() -> None:
    reports = [
        report("test_a.py::test_deploy", 2.0),
        report("test_a.py::test_deploy", 10.5),
        report("test_b.py::test_other", 1.0),
        report("test_a.py::test_destroy", 3.0),
    ]
    assert lines_of(reports) == [
        "   15.5  test_a.py",
        "   12.5      test_deploy",
        "    3.0      test_destroy",
        "    1.0  test_b.py",
        "    1.0      test_other",
    ]
