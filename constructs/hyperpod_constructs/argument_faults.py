"""Says which construct a wrong argument belongs to."""

from __future__ import annotations

from collections.abc import Iterable

from hyperpod_model.faults import Fault, dotted, refuse


def refuse_arguments(owner: str, faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Raise if any fault is an error, else return the warnings.

    Args:
        owner: What was being made, such as ``file system 'Stack/Scratch'``.
        faults: Faults whose path is that of the argument.

    Raises:
        InvalidInputError: With all faults of severity ``error``, as ``owner: argument: message``.
    """
    return refuse(
        fault._replace(path=(owner,), message=f"{dotted(fault.path)}: {fault.message}") for fault in faults
    )
