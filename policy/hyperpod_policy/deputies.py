"""Whether a service that a statement admits may come on behalf of another account (the confused deputy)."""

from __future__ import annotations

from typing import Any, Final

from hyperpod_policy.accounts import belonging
from hyperpod_policy.iam.conditions import Condition
from hyperpod_policy.iam.patterns import wildcard
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.template import Resource
from hyperpod_policy.values import Dynamic, Expression, Parameter, Pseudo, Reference, Text

_ACCOUNTS: Final = frozenset({"aws:sourceaccount", "kms:calleraccount"})
_ORGANIZATIONS: Final = frozenset({"aws:sourceorgid", "aws:sourceorgpaths"})
_ARNS: Final = ("aws:sourcearn", "kms:encryptioncontext:")
_ACCOUNT_FIELD: Final = 4


def comes_for_others(statement: Statement) -> bool | None:
    """Tell whether conditions let a service come for other accounts; ``None`` if only deployment can tell."""
    answers = [_pins(condition, statement.holder) for condition in statement.conditions]
    if True in answers:
        return False
    return None if None in answers else True


def _pins(condition: Condition, holder: Resource) -> bool | None:
    """Whether a condition holds for requests of the own account or organization only."""
    operator = condition.operator.rpartition(":")[2]
    loose = condition.negated or operator.endswith("IfExists") or operator == "Null"
    if loose or condition.operator.startswith("ForAllValues"):
        return False
    key = condition.key.lower()
    if key in _ACCOUNTS:
        answers = [_is_own_account(value, holder) for value in condition.values]
    elif key in _ORGANIZATIONS:
        answers = [not wildcard(value) for value in condition.values]
    elif key.startswith(_ARNS):
        answers = [_is_own_arn(value, holder) for value in condition.values]
    else:
        return False
    if False in answers:
        return False
    return True if condition.complete and None not in answers else None


def _is_own_account(value: Any, holder: Resource) -> bool | None:
    if wildcard(value):
        return False
    return {"own": True, "other": False, "unknown": None}[belonging(value, holder)]


def _is_own_arn(value: Any, holder: Resource) -> bool | None:
    """Whether a pattern is for ARNs of the own account; that of a bucket names no account, but one bucket."""
    if isinstance(value, Reference):
        return True
    if isinstance(value, Parameter | Dynamic | Expression):
        return None
    fields: list[list[Any]] = [[]]
    for part in value.parts if isinstance(value, Text) else (value,):
        first, *rest = part.split(":") if isinstance(part, str) else (part,)
        fields[-1].append(first)
        fields.extend([piece] for piece in rest)
    if len(fields) <= _ACCOUNT_FIELD + 1:
        return not wildcard(value)
    account = [piece for piece in fields[_ACCOUNT_FIELD] if piece != ""]
    if not account:
        return not str(fields[_ACCOUNT_FIELD + 1][0]).startswith(("*", "?"))
    if len(account) == 1 and isinstance(account[0], Pseudo):
        return True
    return _is_own_account(account[0], holder) if len(account) == 1 else None
