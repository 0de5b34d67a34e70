"""Faults of plain values, which are given to other constructs, said in the terms of their props."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hyperpod_constructs.cluster_properties import known_values
from hyperpod_model.catalog.cluster_request import RequestField
from hyperpod_model.checks.reading import is_unknown, quoted
from hyperpod_model.checks.shape import check_shape
from hyperpod_model.faults import UNKNOWN, Fault, InvalidInputError, dotted


def shape_faults(value: Any, field: RequestField, props: Mapping[str, str]) -> list[Fault]:
    """Hold a value in API terms against the service's model.

    Args:
        value: The value in API terms; Tokens pass.
        field: What the model says.
        props: Name of the prop for each member of the value.
    """
    return [
        fault._replace(path=(props.get(str(fault.path[0]), str(fault.path[0])), *fault.path[1:]))
        for fault in check_shape(known_values(value), field)
        if fault.path and fault.severity == "error"
    ]


def choice_faults(value: Any, choices: Sequence[str], prop: str) -> list[Fault]:
    """Check that a value is one of some texts. ``None`` and Tokens pass."""
    found = known_values(value)
    if found is None or is_unknown(found) or found in choices:
        return []
    return [Fault((prop,), f"must be one of {quoted(choices)}, got {value!r}")]


def number_faults(value: Any, prop: str) -> list[Fault]:
    """Check that a number is none of the tokens that stand for text. ``None`` passes."""
    if isinstance(value, (int, float)) or known_values(value) is not UNKNOWN:
        return []
    return [
        Fault(
            (prop,),
            "must be a number, got a token of another kind; use value_as_number of a CfnParameter, or "
            "Token.as_number(...)",
        )
    ]


def refuse_value(label: str, faults: Iterable[Fault]) -> None:
    """Raise if there is any fault.

    Args:
        label: What was being made, such as ``scheduled update``.
        faults: Faults whose path is that of the prop.

    Raises:
        InvalidInputError: With all faults, as ``label: prop message``.
    """
    found = [
        fault._replace(path=(label,), message=f"{dotted(fault.path)} {fault.message}") for fault in faults
    ]
    if found:
        raise InvalidInputError(found)
