from __future__ import annotations

import os
import signal
import time

import pytest

from hyperpod_lifecycle.training import StopSignal
from hyperpod_lifecycle.training.stop_signal import INTERRUPTED_EXIT_CODE, grace_seconds


def tell(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)
    time.sleep(0)  # handlers run between byte codes of the main thread


def test_it_hears_and_gives_the_signal_back():
    before = signal.getsignal(signal.SIGTERM)
    with StopSignal(grace_seconds=100) as stop:
        assert not stop.requested
        assert stop.seconds_left() is None
        tell(signal.SIGTERM)
        assert stop.requested
        left = stop.seconds_left()
        assert left is not None
        assert 0 < left <= 100
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_second_signal_does_not_begin_the_grace_period_anew(monkeypatch: pytest.MonkeyPatch):
    with StopSignal(grace_seconds=10) as stop:
        tell(signal.SIGTERM)
        begun = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: begun + 20)
        tell(signal.SIGTERM)
        left = stop.seconds_left()
    assert left is not None
    assert left < 0


def test_it_hears_what_it_was_told_to_hear():
    with StopSignal(signals=(signal.SIGTERM, signal.SIGUSR1)) as stop:
        tell(signal.SIGUSR1)
        assert stop.requested


def test_the_grace_period_is_that_of_torchrun(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", raising=False)
    assert grace_seconds() == 30
    monkeypatch.setenv("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "290")
    assert grace_seconds() == 290


def test_an_end_on_request_is_no_success():
    assert INTERRUPTED_EXIT_CODE == 143
