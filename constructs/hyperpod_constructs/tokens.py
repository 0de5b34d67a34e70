"""Values that exist only at deployment."""

from __future__ import annotations

from typing import TypeVar

from aws_cdk import Token

from hyperpod_model.faults import UNKNOWN, Unknown

T = TypeVar("T")


def known(value: T) -> T | Unknown:
    """Return the value, or ``UNKNOWN`` if it is or holds an unresolved CDK Token.

    Checks let ``UNKNOWN`` pass: only the service can judge what exists at deployment alone.
    """
    return UNKNOWN if Token.is_unresolved(value) else value
