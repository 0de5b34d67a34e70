"""Faults in what a user said, reported together and in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

FaultPath: TypeAlias = tuple[str | int, ...]
Severity: TypeAlias = Literal["error", "warning"]


class Unknown:
    """Stands for a value that exists only at deployment, such as an unresolved CDK Token.

    Checks let it pass: only the service can judge it.
    """

    def __repr__(self) -> str:
        return "<known after deploy>"


UNKNOWN: Final = Unknown()


class Fault(NamedTuple):
    """One thing that is wrong.

    Attributes:
        path: Where, outermost first, such as ``("InstanceGroups", 2, "OnStartDeepHealthChecks")``. Empty for
            the whole. Checks on a cluster speak the terms of the ``CreateCluster`` request; whoever reports
            the fault translates the path into the terms of its own user.
        message: What is wrong, what was got, what is allowed and the way out; lower case, no final period. It
            does not repeat the path.
        severity: ``error`` is refused by the service (or can never work); ``warning`` is legal and probably
            not meant.
        line: Line in the user's file, counted from 1, where known.
    """

    path: FaultPath
    message: str
    severity: Severity = "error"
    line: int | None = None

    def __str__(self) -> str:
        where = dotted(self.path)
        if self.line is not None:
            where = f"{where} (line {self.line})" if where else f"line {self.line}"
        return f"{where}: {self.message}" if where else self.message


class InvalidInputError(ValueError):
    """What the user said cannot become a working cluster.

    Attributes:
        faults: Every fault found, not only the first.
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


def dotted(path: FaultPath) -> str:
    """Write a path as ``instance_groups[2].instance_type``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def refuse(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Raise if any fault is an error, else return the warnings.

    Raises:
        InvalidInputError: With all faults of severity ``error``.
    """
    found = tuple(faults)
    errors = [fault for fault in found if fault.severity == "error"]
    if errors:
        raise InvalidInputError(errors)
    return found
