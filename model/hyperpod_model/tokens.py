"""Values of the CDK that exist only at deployment."""

from __future__ import annotations

import re
import struct
from typing import Any, Final

_IN_TEXT: Final = re.compile(r"\$\{Token\[", re.IGNORECASE)
_NUMBER: Final = b"\xfb\xff"


def is_token(value: Any) -> bool:
    """Whether a value holds a token: text with a marker, or a number that nobody means.

    Args:
        value: The value.
    """
    if isinstance(value, str):
        return _IN_TEXT.search(value) is not None
    return isinstance(value, float) and struct.pack(">d", value).startswith(_NUMBER)
