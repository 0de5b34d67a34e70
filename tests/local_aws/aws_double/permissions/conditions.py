"""Whether the conditions of a statement hold for a request."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from aws_double.permissions.request import Request, UnknownElementError, Value

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_LITERAL = {"*": "*", "?": "?", "$": "$"}

Test = Callable[[str, str], bool]
"""Gets the request's value and the policy's pattern."""


def conditions_hold(conditions: Mapping[str, Mapping[str, Any]], request: Request) -> bool:
    """Tell whether all conditions hold.

    Raises:
        UnknownElementError: If one has an operator or key that the double does not know.
    """
    # All are judged, so that an unknown element never hides behind one that fails.
    verdicts = [
        _holds(operator, name, as_list(wanted), request)
        for operator, keys in conditions.items()
        for name, wanted in keys.items()
    ]
    return all(verdicts)


def _holds(operator: str, name: str, wanted: list[Any], request: Request) -> bool:
    qualifier, _, base = operator.rpartition(":")
    if qualifier not in ("", "ForAllValues", "ForAnyValue"):
        raise UnknownElementError(f"condition operator {operator}")
    actual = request.key(name)
    if base == "Null":
        return any((actual is None) == (str(value).lower() == "true") for value in wanted)
    if_exists = base.endswith("IfExists")
    base = base.removesuffix("IfExists")
    if base not in _OPERATORS:
        raise UnknownElementError(f"condition operator {operator}")
    test, negated = _OPERATORS[base]
    patterns = _resolved(wanted, request, wildcards=base in _WITH_WILDCARDS)
    if actual is None:
        return if_exists or qualifier == "ForAllValues" or (negated and qualifier == "")

    def matches(value: str) -> bool:
        return any(test(value, pattern) for pattern in patterns) != negated

    if qualifier == "ForAllValues":
        return all(matches(value) for value in _several(actual))
    if qualifier == "ForAnyValue":
        return any(matches(value) for value in _several(actual))
    if isinstance(actual, tuple):
        raise UnknownElementError(f"condition operator {operator} on {name}, which has several values")
    return matches(actual)


def _several(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (value,)


def _resolved(wanted: list[Any], request: Request, *, wildcards: bool) -> list[str]:
    texts = ["true" if value is True else "false" if value is False else str(value) for value in wanted]
    resolved = [with_variables(text, request, escape=wildcards) for text in texts]
    return [text for text in resolved if text is not None]


def with_variables(text: str, request: Request, *, escape: bool) -> str | None:
    """Return a text with the policy variables in it filled in; none if one has no value.

    Args:
        text: Of the policy.
        request: Whose keys fill them in.
        escape: Whether the text is a pattern, in which what is filled in stands for itself.
    """
    missing = False

    def value_of(match: re.Match[str]) -> str:
        nonlocal missing
        name, _, default = (part.strip() for part in match[1].partition(","))
        value: Value | None = _LITERAL.get(name) if name in _LITERAL else request.key(name)
        if value is None and default:
            value = default.strip("'")
        if not isinstance(value, str):
            missing = True
            return ""
        return _escaped(value) if escape else value

    filled = _VARIABLE.sub(value_of, text)
    return None if missing else filled


_STAR, _MARK = "\ue000", "\ue001"
"""Stand for a literal star and question mark inside a pattern; private characters of Unicode."""


def _escaped(text: str) -> str:
    return text.replace("*", _STAR).replace("?", _MARK)


def as_list(value: Any) -> list[Any]:
    """Return an element that may be one or several as a list."""
    return value if isinstance(value, list) else [value]


def like(text: str, pattern: str) -> bool:
    """Match ``*`` and ``?``."""
    parts = {"*": ".*", "?": ".", _STAR: re.escape("*"), _MARK: re.escape("?")}
    expression = "".join(parts.get(character, re.escape(character)) for character in pattern)
    return re.fullmatch(expression, text, re.DOTALL) is not None


def arn_like(text: str, pattern: str) -> bool:
    """Match the six parts of an ARN one by one: a star in one does not reach into the next."""
    texts, patterns = text.split(":", 5), pattern.split(":", 5)
    if len(patterns) != 6:
        return pattern == "*"
    return len(texts) == 6 and all(like(*pair) for pair in zip(texts, patterns, strict=True))


def _number(test: Callable[[float, float], bool]) -> Test:
    return lambda text, pattern: test(float(text), float(pattern))


def _date(test: Callable[[datetime, datetime], bool]) -> Test:
    return lambda text, pattern: test(_moment(text), _moment(pattern))


def _moment(text: str) -> datetime:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return datetime.fromtimestamp(float(text), UTC)
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _in_network(text: str, pattern: str) -> bool:
    address, network = ipaddress.ip_address(text), ipaddress.ip_network(pattern, strict=False)
    return address.version == network.version and address in network


_OPERATORS: dict[str, tuple[Test, bool]] = {
    "StringEquals": (lambda text, pattern: text == pattern, False),
    "StringNotEquals": (lambda text, pattern: text == pattern, True),
    "StringEqualsIgnoreCase": (lambda text, pattern: text.lower() == pattern.lower(), False),
    "StringNotEqualsIgnoreCase": (lambda text, pattern: text.lower() == pattern.lower(), True),
    "StringLike": (like, False),
    "StringNotLike": (like, True),
    "ArnEquals": (arn_like, False),
    "ArnLike": (arn_like, False),
    "ArnNotEquals": (arn_like, True),
    "ArnNotLike": (arn_like, True),
    "Bool": (lambda text, pattern: text.lower() == pattern.lower(), False),
    "IpAddress": (_in_network, False),
    "NotIpAddress": (_in_network, True),
    "NumericEquals": (_number(lambda one, other: one == other), False),
    "NumericNotEquals": (_number(lambda one, other: one == other), True),
    "NumericLessThan": (_number(lambda one, other: one < other), False),
    "NumericLessThanEquals": (_number(lambda one, other: one <= other), False),
    "NumericGreaterThan": (_number(lambda one, other: one > other), False),
    "NumericGreaterThanEquals": (_number(lambda one, other: one >= other), False),
    "DateEquals": (_date(lambda one, other: one == other), False),
    "DateNotEquals": (_date(lambda one, other: one == other), True),
    "DateLessThan": (_date(lambda one, other: one < other), False),
    "DateLessThanEquals": (_date(lambda one, other: one <= other), False),
    "DateGreaterThan": (_date(lambda one, other: one > other), False),
    "DateGreaterThanEquals": (_date(lambda one, other: one >= other), False),
}
"""By name: how one value matches one pattern, and whether the operator wants that none matches."""

_WITH_WILDCARDS = frozenset(
    {"StringLike", "StringNotLike", "ArnEquals", "ArnLike", "ArnNotEquals", "ArnNotLike"}
)


def operator_known(operator: str) -> bool:
    """Tell whether the double can judge an operator."""
    qualifier, _, base = operator.rpartition(":")
    known = base == "Null" or base.removesuffix("IfExists") in _OPERATORS
    return known and qualifier in ("", "ForAllValues", "ForAnyValue")
