"""Text of foreign templates, made safe to show."""

from __future__ import annotations

import re
from typing import Final

# Control characters, and those that reorder text: no template may repaint a reviewer's terminal.
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def printable(text: str) -> str:
    """Write control characters, line breaks included, and invisible ones as escapes."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)
