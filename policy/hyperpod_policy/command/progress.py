"""A progress bar over many templates, where somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

T = TypeVar("T")

_FEW: Final = 5
"""Done before anybody could read a bar."""


def tracked(items: Iterable[T], *, total: int, wanted: bool = True) -> Iterator[T]:
    """Yield items, and show on standard error how many have come, if that is a terminal.

    Args:
        items: What is worked on.
        total: How many there are.
        wanted: Whether to show a bar at all.
    """
    if not wanted or total <= _FEW or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(
        items, description="reviewing", total=total, console=Console(file=sys.stderr), transient=True
    )
