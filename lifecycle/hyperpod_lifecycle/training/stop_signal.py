"""SIGTERM as a wish that the loop hears at the end of a step, so that all ranks save one step and end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import Final, Self

from hyperpod_model.catalog.jobs import TORCHRUN_SHUTDOWN_SECONDS, TORCHRUN_SHUTDOWN_VARIABLE

INTERRUPTED_EXIT_CODE: Final = 128 + signal.SIGTERM
"""What training ends with after SIGTERM. Not 0: the pod would count as done, and its job as over."""


def grace_seconds() -> float:
    """Seconds from SIGTERM until torchrun kills its processes.

    What ``TORCH_ELASTIC_SHUTDOWN_TIMEOUT`` says, which rendered jobs set from the pod's grace period; else
    30, which is also what a torchrun that does not read the variable takes, whatever the pod's grace period
    is.
    """
    said = os.environ.get(TORCHRUN_SHUTDOWN_VARIABLE)
    return float(TORCHRUN_SHUTDOWN_SECONDS if said is None else said)


class StopSignal:
    """Remembers a signal until the step is done.

    A handler that saved could interrupt a collective half-way, or a save that is under way; so this one only
    notes the time. One pod may be told before another: ask :attr:`requested` on every rank and stop where any
    says yes, such as by ``coordinator.any(stop.requested)``.

    Used as a context it takes the signals over, and gives them back at its end. Only the main thread can.

    Args:
        signals: Default SIGTERM alone: what kubelet, torchrun and Slurm send. ``--signal=USR1@120`` of
            ``sbatch`` needs SIGUSR1 too.
        grace_seconds: Seconds until the process is killed. Default what :func:`grace_seconds` finds out.
    """

    def __init__(
        self, *, signals: Sequence[signal.Signals] = (signal.SIGTERM,), grace_seconds: float | None = None
    ) -> None:
        self._signals = tuple(signals)
        self._grace_seconds = grace_seconds
        self._received: float | None = None
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        for number in self._signals:
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            # None: a handler that was not installed from Python cannot be put back from it.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._before.clear()

    @property
    def requested(self) -> bool:
        """Whether this process was told to end."""
        return self._received is not None

    def seconds_left(self) -> float | None:
        """Seconds until the process is killed, negative after that; None while nobody told it to end."""
        if self._received is None:
            return None
        grace = grace_seconds() if self._grace_seconds is None else self._grace_seconds
        return self._received + grace - time.monotonic()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._received is None:
            self._received = time.monotonic()
