"""Values that a faulty specification leaves open."""

from __future__ import annotations

from typing import Any

from hyperpod_model.faults import UNKNOWN


def known(*values: Any) -> bool:
    """Whether none of the values is ``UNKNOWN``.

    A specification with a fault in one field is checked all the same, with ``UNKNOWN`` in that field, so that
    all its faults are reported together.
    """
    return all(value is not UNKNOWN for value in values)
