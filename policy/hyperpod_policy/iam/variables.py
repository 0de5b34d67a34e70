"""Policy variables such as ``${aws:PrincipalAccount}``, put in for what a request carries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from hyperpod_policy.iam.context import ABSENT
from hyperpod_policy.values import Expression, Text, Unresolved, concatenated

POLICY_VARIABLE: Final = "policy variable"
"""The function of an `Expression` that stands for a variable of which a request tells nothing."""

_VARIABLE: Final = re.compile(r"\$\{([^}*?$,\s][^},]*?)\s*(?:,\s*'([^']*)'\s*)?\}")


def has_variables(values: Iterable[Any]) -> bool:
    """Tell whether any of some patterns or condition values may have variables."""
    return any(
        "${" in part
        for value in values
        for part in (value.parts if isinstance(value, Text) else (value,))
        if isinstance(part, str)
    )


def with_variables(value: Any, context: Mapping[str, Any]) -> Any:
    """Return a pattern or condition value with its variables put in.

    A variable that the context says nothing about becomes unresolved, so that it may stand for anything. One
    that the request does not carry takes its default, and without one matches nothing but itself. The escapes
    for literal wildcards (such as ``${*}``) stay: patterns read them.

    Args:
        value: As written in the policy.
        context: What the request carries, by condition key in lower case.
    """
    if isinstance(value, str):
        return concatenated(_parts(value, context)) if "${" in value else value
    if isinstance(value, Text) and any(isinstance(part, str) and "${" in part for part in value.parts):
        parts: list[Any] = []
        for part in value.parts:
            parts += [part] if isinstance(part, Unresolved) else _parts(part, context)
        return concatenated(parts)
    return value


def _parts(text: str, context: Mapping[str, Any]) -> list[Any]:
    parts: list[Any] = []
    end = 0
    for match in _VARIABLE.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        name, default = match.group(1).lower(), match.group(2)
        known = context.get(name)
        if known is None:
            parts.append(Expression(POLICY_VARIABLE, name))
        elif known is ABSENT:
            parts.append(match.group(0) if default is None else default)
        elif isinstance(known, list):
            parts.append(Expression(POLICY_VARIABLE, name))
        else:
            parts.append(known)
    parts.append(text[end:])
    return parts
