"""Tags of the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.checks.reading import structures, text
from hyperpod_model.faults import Fault, FaultPath

_RESERVED_PREFIX = "aws:"


def check_tags(request: Mapping[str, Any]) -> list[Fault]:
    """Check that tag keys are unique and that no tag takes the prefix that AWS keeps for itself."""
    faults = []
    seen: dict[str, int] = {}
    for index, tag in structures(request, "Tags"):
        key = text(tag, "Key")
        path: FaultPath = ("Tags", index)
        if key is not None:
            if key in seen:
                faults.append(Fault((*path, "Key"), f"{key!r} is given twice, here and in tags[{seen[key]}]"))
            seen.setdefault(key, index)
        for member in ("Key", "Value"):
            found = text(tag, member)
            if found is not None and found.lower().startswith(_RESERVED_PREFIX):
                faults.append(
                    Fault((*path, member), f"must not start with {_RESERVED_PREFIX!r}, got {found!r}")
                )
    return faults
