"""Reads deployed resources back through boto3, in the terms of CloudFormation, to compare with a template.

Knows nothing of the double: the same reading works against AWS.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Clients(Protocol):
    """Something that makes boto3 clients."""

    def client(self, service: str) -> Any: ...


Reader = Callable[[Clients, str, dict[str, Any]], dict[str, Any]]

READERS: dict[str, Reader] = {}
"""By CloudFormation type: reads the properties of a physical id.

The third argument is the properties that the template asks for: keys to look with where the physical id does
not say enough (a security group rule, a route). A reader returns only properties that the API told.
"""


def reads(*types: str) -> Callable[[Reader], Reader]:
    """Register a reader for some types."""

    def register(reader: Reader) -> Reader:
        for name in types:
            READERS[name] = reader
        return reader

    return register
