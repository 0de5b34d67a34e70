"""Faults of a job, one a line, as compilers write them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from hyperpod_model.faults import Fault, dotted
from hyperpod_policy.reports.printable import printable


def show(faults: Iterable[Fault], name: str, stream: TextIO) -> None:
    """Write faults.

    Args:
        faults: What is wrong.
        name: The file.
        stream: Where to write.
    """
    for fault in faults:
        place = name if fault.line is None else f"{name}:{fault.line}"
        where = f"{dotted(fault.path)}: " if fault.path else ""
        print(printable(f"{place}: {fault.severity}: {where}{fault.message}"), file=stream)
