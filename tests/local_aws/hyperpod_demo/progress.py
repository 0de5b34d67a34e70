"""Short lines that say what goes on, and for how long: one a step."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TextIO

_TERMINAL_SECONDS = 0.5
_PLAIN_SECONDS = 5.0


class Step:
    """A step that is under way.

    Args:
        what: What is done.

    Attributes:
        at: Where it is, or what came of it.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.at = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.at}" if self.at else self.what


class Progress:
    """Tells steps, in one line that changes on a terminal, else in lines that say what is new.

    Args:
        out: Where to.
        clock: Tells the time in seconds.
        seconds: How often to look at a step. By default twice a second on a terminal, else every 5 seconds.
    """

    def __init__(
        self, out: TextIO, *, clock: Callable[[], float] = time.monotonic, seconds: float | None = None
    ) -> None:
        self._out = out
        self._clock = clock
        self._started = clock()
        self._terminal = out.isatty() and os.environ.get("TERM") != "dumb"
        usual = _TERMINAL_SECONDS if self._terminal else _PLAIN_SECONDS
        self._seconds = usual if seconds is None else seconds

    @property
    def total(self) -> str:
        """The time since the beginning."""
        return f"{self._clock() - self._started:.0f} s"

    def tell(self, text: str = "") -> None:
        """Tell something between steps."""
        print(text, file=self._out, flush=True)

    @contextmanager
    def step(self, what: str) -> Iterator[Step]:
        """Tell a step and how it goes on; the last line stays, with the time that it took."""
        step, began, over = Step(what), self._clock(), Event()
        teller = Thread(target=self._follow, args=(step, began, over), daemon=True)
        teller.start()
        try:
            yield step
        except BaseException:
            step.at = f"{step.at}, not finished" if step.at else "not finished"
            raise
        finally:
            over.set()
            teller.join()
            self._show(step, began, last=True)

    def _follow(self, step: Step, began: float, over: Event) -> None:
        told = ""
        while True:
            if self._terminal or str(step) != told:
                self._show(step, began)
                told = str(step)
            if over.wait(self._seconds):
                return

    def _show(self, step: Step, began: float, *, last: bool = False) -> None:
        line = f"{self._clock() - began:4.0f} s  {step}"
        if not last:
            line += " ..."
        if self._terminal:
            columns = shutil.get_terminal_size().columns - 1
            self._out.write(f"\r\033[K{line if last else line[:columns]}")
            if last:
                self._out.write("\n")
            self._out.flush()
        else:
            self.tell(line)
