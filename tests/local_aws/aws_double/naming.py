"""Physical names that CloudFormation makes up."""

from __future__ import annotations

import secrets
import string

from aws_double.resource import Resource

_SUFFIX_LENGTH = 12


def physical_name(resource: Resource, *, limit: int, lower: bool = False) -> str:
    """Return ``<stack>-<logical id>-<random>`` as CloudFormation does, shortened to what the service takes.

    Args:
        resource: The resource without a name of its own.
        limit: Most characters that the service allows.
        lower: Whether the service wants lower case.
    """
    room = limit - _SUFFIX_LENGTH - 1
    stack = resource.stack_name[: max(room - len(resource.logical_id) - 1, room // 2)]
    stem = f"{stack}-{resource.logical_id}"[:room].rstrip("-")
    name = f"{stem}-{random_suffix(_SUFFIX_LENGTH)}"
    return name.lower() if lower else name


def random_suffix(length: int) -> str:
    """Return capitals and digits that no other name has."""
    return "".join(secrets.choice(string.ascii_uppercase + string.digits) for _ in range(length))
