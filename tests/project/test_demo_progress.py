"""The demo tells its steps: in lines of their own in a log, in one line that changes on a terminal."""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import pytest
from hyperpod_demo.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


def test_a_log_has_a_line_for_what_is_new_and_no_more() -> None:
    out, clock = io.StringIO(), Clock()
    with Progress(out, clock=clock, seconds=0.01).step("deploy") as step:
        wait_for(lambda: "deploy ..." in out.getvalue())
        time.sleep(0.05)
        clock.now += 3
        step.at = "3 of 75 resources"
        wait_for(lambda: "3 of 75" in out.getvalue())
        clock.now += 8
        step.at = "75 of 75 resources"
        wait_for(lambda: "75 of 75" in out.getvalue())
    assert out.getvalue().splitlines() == [
        "   0 s  deploy ...",
        "   3 s  deploy: 3 of 75 resources ...",
        "  11 s  deploy: 75 of 75 resources ...",
        "  11 s  deploy: 75 of 75 resources",
    ]


def test_a_terminal_shows_one_line_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out, clock = Terminal(), Clock()
    with Progress(out, clock=clock, seconds=0.01).step("deploy") as step:
        wait_for(lambda: out.getvalue().count("\r") > 2)
        clock.now += 2
        step.at = "75 of 75 resources"
    assert out.getvalue().count("\n") == 1
    assert out.getvalue().endswith("\r\033[K   2 s  deploy: 75 of 75 resources\n")


def test_a_terminal_without_control_characters_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    out = Terminal()
    with Progress(out).step("deploy"):
        pass
    assert "\033" not in out.getvalue()


def test_a_line_that_changes_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "20")
    out = Terminal()
    with Progress(out).step("a step with a name that is too long"):
        wait_for(lambda: "\r" in out.getvalue())
        assert len(out.getvalue().removeprefix("\r\033[K")) == 19


def test_a_step_that_fails_says_so() -> None:
    out = io.StringIO()

    def fail() -> None:
        with Progress(out, clock=Clock()).step("deploy") as step:
            step.at = "3 of 75 resources"
            raise ValueError("gone")

    with pytest.raises(ValueError, match="gone"):
        fail()
    assert out.getvalue().splitlines()[-1] == "   0 s  deploy: 3 of 75 resources, not finished"
