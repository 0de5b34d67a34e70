"""Which actions a statement speaks of."""

from __future__ import annotations

from hyperpod_policy.iam.patterns import every
from hyperpod_policy.iam.statements import Statement


def speaks_of(statement: Statement, action: str) -> bool:
    """Tell whether a statement may be about an action, whatever else it asks for."""
    return statement.not_action or any(
        every(pattern, action.lower(), ignore_case=True) is not False for pattern in statement.actions
    )
