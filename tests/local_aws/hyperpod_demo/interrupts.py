"""What asks a program to stop, told at a moment when it can clean up."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Turns the first request to stop into ``KeyboardInterrupt``; further ones do not disturb the clean-up.

    Attributes:
        number: The signal that came, if one has.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._held = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._before = {one: signal.signal(one, self._receive) for one in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep requests back to the end of a block that makes something and arranges its end."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.check()

    def check(self) -> None:
        """Raise if a request has come.

        Raises:
            KeyboardInterrupt: If so.
        """
        if self.number is not None:
            raise KeyboardInterrupt

    def _receive(self, number: int, _: FrameType | None) -> None:
        if self.number is not None:
            return
        self.number = number
        if not self._held:
            raise KeyboardInterrupt
