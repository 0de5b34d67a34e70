"""A look at a file system that may hang: a mount whose server is gone blocks whoever asks, without end."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from hyperpod_lifecycle.operations.errors import OperationError

T = TypeVar("T")


def within(seconds: float, look: Callable[[], T], *, what: str) -> T:
    """Look, and give up after a while.

    Args:
        seconds: When to give up.
        look: Looks.
        what: What is looked at, for the message.

    Returns:
        What was found. What the look raises is raised.

    Raises:
        OperationError: If nothing was found by then. The look goes on in a thread that ends with the process.
    """
    found: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            found.put((look(), None))
        except BaseException as error:
            found.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        value, error = found.get(timeout=seconds)
    except queue.Empty:
        raise OperationError(
            "unreachable",
            f"{what} does not answer within {seconds:g} s; is its file system mounted, and its server up?",
        ) from None
    if error is not None:
        raise error
    answer: Any = value
    return answer  # type: ignore[no-any-return]
