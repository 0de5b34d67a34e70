"""The syntax of intrinsic functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from aws_double.cloudformation.errors import Refused

VARIABLE: Final = re.compile(r"\$\{([^}]*)\}")
"""What ``Fn::Sub`` replaces in a text."""


def function_of(given: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Return the name and argument of an intrinsic function; none for a plain mapping.

    Raises:
        Refused: If it has more than the function.
    """
    functions = [key for key in given if key == "Ref" or key.startswith("Fn::")]
    if functions and len(given) > 1:
        raise Refused(f"Template error: {functions[0]} stands beside other keys: {', '.join(given)}")
    if functions:
        return functions[0], given[functions[0]]
    if set(given) == {"Condition"} and isinstance(given["Condition"], str):
        return "Condition", given["Condition"]
    return None


def arguments_of(given: Any, function: str, number: int | None) -> list[Any]:
    """Return the arguments of a function.

    Args:
        given: What stands after it.
        function: Its name.
        number: How many it takes; none for any number.

    Raises:
        Refused: If that is no list of so many.
    """
    if not isinstance(given, list) or (number is not None and len(given) != number):
        raise Refused(f"Template error: {function} takes a list of {number} arguments, got {given!r}")
    return given


def attribute_of(given: Any) -> tuple[str, Any]:
    """Return the logical id and the attribute that ``Fn::GetAtt`` names.

    Raises:
        Refused: If it names no two.
    """
    parts = given.split(".", 1) if isinstance(given, str) else given
    if not isinstance(parts, list) or len(parts) != 2:
        raise Refused(f"Template error: Fn::GetAtt takes a logical id and an attribute, got {given!r}")
    return parts[0], parts[1]


def text_and_variables(given: Any) -> tuple[str, dict[str, Any]]:
    """Return the text of ``Fn::Sub`` and the variables of its own."""
    if isinstance(given, str):
        return given, {}
    text, variables = arguments_of(given, "Fn::Sub", 2)
    return text, variables


def variables_in(text: str) -> list[str]:
    """Return what a text of ``Fn::Sub`` has in place of values."""
    return [found.strip() for found in VARIABLE.findall(text) if not found.strip().startswith("!")]
