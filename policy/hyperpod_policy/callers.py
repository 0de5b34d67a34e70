"""Whether a condition leaves none but callers of the own account or organization."""

from __future__ import annotations

from typing import Final

from hyperpod_policy.accounts import belonging
from hyperpod_policy.iam.conditions import Condition
from hyperpod_policy.iam.patterns import wildcard
from hyperpod_policy.template import Resource

_CALLERS: Final = frozenset({"aws:principalaccount", "aws:principalarn"})
_ORGANIZATIONS: Final = frozenset({"aws:principalorgid", "aws:principalorgpaths"})
NOBODY: Final[frozenset[str]] = frozenset()


def narrows(condition: Condition, holder: Resource, *, owners: frozenset[str] = NOBODY) -> bool | None:
    """Tell whether a condition holds for callers of the own account or organization only.

    Args:
        condition: A condition of a statement that allows.
        holder: The resource whose account is meant.
        owners: Further condition keys, in lower case, whose value is the account of the caller. By default
            none.

    Returns:
        ``None`` if only deployment can tell.
    """
    operator = condition.operator.rpartition(":")[2]
    key = condition.key.lower()
    loose = condition.negated or operator.endswith("IfExists") or operator == "Null"
    if loose or condition.operator.startswith("ForAllValues"):
        return False
    if key in _ORGANIZATIONS:
        answers: list[bool | None] = [not wildcard(value) for value in condition.values]
    elif key in _CALLERS | owners:
        own = {"own": True, "other": False, "unknown": None}
        answers = [own[belonging(value, holder)] for value in condition.values]
    else:
        return False
    if False in answers:
        return False
    return True if condition.complete and None not in answers else None
