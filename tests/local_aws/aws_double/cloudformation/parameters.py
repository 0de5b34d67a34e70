"""Values of a template's parameters: given, previous, default or from the Parameter Store."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from aws_double.cloudformation.errors import Refused, not_covered

Fetch = Callable[[str], str]
"""Returns the value of a name in the Parameter Store."""

_FROM_STORE: Final = re.compile(r"AWS::SSM::Parameter::Value<(.+)>")
_LISTS: Final = frozenset({"CommaDelimitedList", "List<String>", "List<Number>"})
_SCALARS: Final = frozenset({"String", "Number", "AWS::SSM::Parameter::Name"})


def given_values(
    declared: Mapping[str, Mapping[str, Any]],
    requested: list[Mapping[str, Any]],
    previous: Mapping[str, str],
) -> dict[str, str]:
    """Return the raw value of each parameter.

    Args:
        declared: Section ``Parameters`` of the template.
        requested: ``Parameters`` of the request.
        previous: Raw values that the stack has.

    Raises:
        Refused: If one has no value, is not declared or is not allowed.
    """
    values: dict[str, str] = {}
    for parameter in requested:
        name = parameter["ParameterKey"]
        if name not in declared:
            raise Refused(f"Parameters: [{name}] do not exist in the template")
        if not parameter.get("UsePreviousValue"):
            values[name] = parameter["ParameterValue"]
        elif name in previous:
            values[name] = previous[name]
        else:
            raise Refused(f"Invalid input for parameter key {name}. Cannot specify usePreviousValue as true")
    for name, declaration in declared.items():
        if name not in values and "Default" in declaration:
            values[name] = _raw(declaration["Default"])
    missing = [name for name in declared if name not in values]
    if missing:
        raise Refused(f"Parameters: [{', '.join(missing)}] must have values")
    for name, value in values.items():
        _check(name, declared[name], value)
    return values


def resolved_values(
    declared: Mapping[str, Mapping[str, Any]], given: Mapping[str, str], fetch: Fetch
) -> dict[str, Any]:
    """Return what ``Ref`` of each parameter is.

    Raises:
        Refused: If the Parameter Store lacks a name, or a type is not covered.
    """
    return {name: _resolved(declared[name]["Type"], value, fetch) for name, value in given.items()}


def _resolved(type_name: str, value: str, fetch: Fetch) -> Any:
    stored = _FROM_STORE.fullmatch(type_name)
    if stored:
        return _resolved(stored[1], fetch(value), fetch)
    if type_name in _LISTS:
        return [item.strip() for item in value.split(",")] if value else []
    if type_name in _SCALARS:
        return value
    raise not_covered(f"parameter type {type_name}")


def _raw(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _check(name: str, declaration: Mapping[str, Any], value: str) -> None:
    if declaration["Type"] == "Number" and not re.fullmatch(r"-?\d+(\.\d+)?", value):
        raise Refused(f"Parameter '{name}' must be a number, got '{value}'")
    items = value.split(",") if declaration["Type"] in _LISTS else [value]
    allowed = [_raw(one) for one in declaration.get("AllowedValues", items)]
    for item in items:
        if item not in allowed:
            raise Refused(
                f"Parameter '{name}' must be one of AllowedValues: [{', '.join(allowed)}], got '{item}'"
            )
    pattern = declaration.get("AllowedPattern")
    if pattern is not None and not re.fullmatch(pattern, value):
        raise Refused(f"Parameter '{name}' must match pattern {pattern}, got '{value}'")
    checked = {"Length": float(len(value))} | (
        {"Value": float(value)} if declaration["Type"] == "Number" else {}
    )
    for measure, found in checked.items():
        least, most = (float(declaration.get(f"{end}{measure}", found)) for end in ("Min", "Max"))
        if not least <= found <= most:
            raise Refused(f"Parameter '{name}' is beyond its Min{measure} or Max{measure}: '{value}'")
