"""Values that exist only at deployment."""

from __future__ import annotations

from typing import TypeVar

from aws_cdk import Token

from hyperpod_model.faults import UNKNOWN, Unknown

T = TypeVar("T")
_MAY_HOLD_TOKENS = (str, int, float, list, dict)


def known(value: T) -> T | Unknown:
    """Return the value, or ``UNKNOWN`` if it is or holds an unresolved CDK Token.

    Checks let ``UNKNOWN`` pass: only the service can judge what exists at deployment alone.
    """
    if not isinstance(value, _MAY_HOLD_TOKENS) and not any(
        hasattr(type(value), mark) for mark in ("__jsii_type__", "__jsii_ifaces__")
    ):
        # jsii knows nothing of other objects, such as dates, and raises.
        return value
    return UNKNOWN if Token.is_unresolved(value) else value
