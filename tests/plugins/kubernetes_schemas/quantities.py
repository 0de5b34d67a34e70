"""Quantities of Kubernetes, such as ``500m`` and ``1880Gi``."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def amount(quantity: Any) -> Decimal:
    """Read a quantity.

    Args:
        quantity: Text or a number.

    Raises:
        ValueError: If it is none.
    """
    match = _QUANTITY.fullmatch(str(quantity))
    if match is None or isinstance(quantity, bool):
        raise ValueError(f"{quantity!r} is not a quantity")
    number, unit = Decimal(match[1]), match[2]
    if unit is None:
        return number
    if unit in _BINARY:
        return number * 1024 ** (_BINARY.index(unit) + 1)
    return number.scaleb(_DECIMAL[unit] if unit in _DECIMAL else int(unit[1:]))
