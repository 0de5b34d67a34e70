"""Condition blocks of IAM statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hyperpod_policy.iam import patterns
from hyperpod_policy.iam.context import ABSENT as ABSENT
from hyperpod_policy.iam.context import ANOTHER_ACCOUNT, SOMEBODYS_ID
from hyperpod_policy.iam.context import SOMEBODY as SOMEBODY
from hyperpod_policy.iam.variables import POLICY_VARIABLE, has_variables, with_variables
from hyperpod_policy.values import (
    Dynamic,
    Expression,
    Parameter,
    Text,
    Unresolved,
    concatenated,
    scalar_text,
)


@dataclass(frozen=True, slots=True)
class Condition:
    """One operator on one key.

    Attributes:
        operator: As written, with ``ForAnyValue:`` and ``IfExists``.
        key: Condition key, as written.
        values: Values it compares with.
        complete: Whether these are all of them.
        has_variables: Whether values may have policy variables.
    """

    operator: str
    key: str
    values: tuple[Any, ...]
    complete: bool = True
    has_variables: bool = field(init=False)

    def __post_init__(self) -> None:
        """Note whether values have policy variables, which few have."""
        object.__setattr__(self, "has_variables", has_variables(self.values))

    @property
    def negated(self) -> bool:
        """Whether it holds for values other than those listed."""
        return "Not" in self.operator

    def __str__(self) -> str:
        return f"{self.operator} {self.key}"


def holds(conditions: Sequence[Condition], context: Mapping[str, Any], *, free: bool) -> bool | None:
    """Tell whether all conditions hold for a request.

    Args:
        conditions: Conditions of a statement.
        context: What the request carries, by condition key in lower case; `ABSENT` for a key it does not
            carry.
        free: What to answer for a key the context says nothing about, which the caller may choose.

    Returns:
        ``None`` if it depends on what only deployment can tell.
    """
    answers = [_holds(condition, context, free) for condition in conditions]
    if False in answers:
        return False
    return None if None in answers else True


def _holds(condition: Condition, context: Mapping[str, Any], free: bool) -> bool | None:
    operator = condition.operator
    quantifier, colon, base = operator.rpartition(":")
    if not colon:
        quantifier = ""
    optional = base.endswith("IfExists")
    base = base.removesuffix("IfExists")
    key = condition.key.lower()
    if key not in context:
        return free
    given = context[key]
    if base == "Null":
        absent = given is ABSENT
        answers = [
            None if isinstance(value, Unresolved) else (scalar_text(value) == "true") == absent
            for value in condition.values
        ]
        return _any(answers)
    if given is ABSENT:
        return optional or quantifier == "ForAllValues" or (condition.negated and quantifier == "")
    compare = _OPERATORS.get(base.replace("Not", "", 1) if condition.negated else base)
    if compare is None:
        return free
    found = given if isinstance(given, list) else [given]
    values: Sequence[Any] = condition.values
    if condition.has_variables:
        values = [with_variables(value, context) for value in values]
    verdicts = []
    for item in found:
        answers = [compare(value, item) for value in values]
        if not condition.complete:
            answers.append(None)
        matched = _any(answers)
        verdicts.append(None if matched is None else matched != condition.negated)
    if quantifier == "ForAllValues" or (condition.negated and quantifier == ""):
        return _all(verdicts)
    return _any(verdicts)


def _any(answers: Sequence[bool | None]) -> bool | None:
    if True in answers:
        return True
    return None if None in answers else False


def _all(answers: Sequence[bool | None]) -> bool | None:
    if False in answers:
        return False
    return None if None in answers else True


def _boolean(value: Any, given: Any) -> bool | None:
    if isinstance(value, Unresolved) or isinstance(given, Unresolved):
        return None
    return str(scalar_text(value)).lower() == str(scalar_text(given)).lower()


def _like(value: Any, given: Any) -> bool | None:
    if value == given:
        return True  # the caller itself, by a policy variable
    if given in _NOBODY:
        return _somebody(value, given)
    return patterns.every(value, given)


def _equals(value: Any, given: Any) -> bool | None:
    if value == given:
        return True
    if given in _NOBODY:
        return None if _may_be_any_text(value) else False
    return patterns.equal(value, given)


def _equals_ignoring_case(value: Any, given: Any) -> bool | None:
    if value == given:
        return True
    if given in _NOBODY:
        return None if _may_be_any_text(value) else False
    return patterns.equal(value, given, ignore_case=True)


_NOBODY: Final = (SOMEBODY, SOMEBODYS_ID, ANOTHER_ACCOUNT)

_OPERATORS: Final = {
    "StringEquals": _equals,
    "StringEqualsIgnoreCase": _equals_ignoring_case,
    "StringLike": _like,
    "ArnEquals": _like,
    "ArnLike": _like,
    "Bool": _boolean,
}


def _somebody(value: Any, given: Any) -> bool | None:
    """Whether a pattern matches a principal that nobody listed, or its id."""
    value = _with_callers_choice(value)
    if _may_be_any_text(value):
        return None
    return patterns.admits_any_principal(value) if given is SOMEBODY else patterns.admits_any_id(value)


def _with_callers_choice(value: Any) -> Any:
    """Put a wildcard where a pattern has what the caller chooses, such as a tag of its own."""
    if not isinstance(value, Text):
        return value
    return concatenated(
        "*" if isinstance(part, Expression) and part.function == POLICY_VARIABLE else part
        for part in value.parts
    )


def _may_be_any_text(value: Any) -> bool:
    return isinstance(value, Parameter | Dynamic | Expression)
