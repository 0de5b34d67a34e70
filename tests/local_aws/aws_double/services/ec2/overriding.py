"""Puts functions in the place of moto's methods, and says which errors they raise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from moto.ec2.exceptions import DependencyViolationError, EC2ClientError

from aws_double import usage


def override(owner: type, *functions: Callable[..., Any]) -> None:
    """Let a class have functions as methods of the same names.

    ``EC2Backend`` inherits its methods from one class a topic, so what a function replaces stays within reach
    there: ``SubnetBackend.delete_subnet(backend, subnet_id)``.
    """
    for function in functions:
        setattr(owner, function.__name__, function)


def invalid(message: str) -> EC2ClientError:
    """The error of EC2 for a value that it does not take."""
    return EC2ClientError("InvalidParameterValue", message)


def refuse_if_used(message: str, resource_id: str, users: Iterable[str]) -> None:
    """Refuse to delete what others use, those that hold it outside EC2 included.

    Raises:
        DependencyViolationError: With EC2's own message and, which EC2 does not tell, by whom it is used.
    """
    found = [*users, *usage.holders(resource_id)]
    if found:
        raise DependencyViolationError(f"{message} Used by {', '.join(found)}.")
