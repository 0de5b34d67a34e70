"""A text that looks like a terminal."""

from __future__ import annotations

import io


class Terminal(io.StringIO):
    """What is typed, or what is shown."""

    def isatty(self) -> bool:
        return True
