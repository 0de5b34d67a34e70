"""Variables in commands and environments of containers, by the rules of Kubernetes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_REFERENCE = re.compile(r"\$(?:\$|\(([^)]*)\))")


def expand(text: str, environment: Mapping[str, str]) -> str:
    """Replace ``$(NAME)`` by its value, and ``$$`` by ``$``. A name that is not set stays as it is written.

    Args:
        text: A word of a command, or the value of a variable.
        environment: Variables that are set.
    """

    def value(match: re.Match[str]) -> str:
        return "$" if match[1] is None else environment.get(match[1], match[0])

    return _REFERENCE.sub(value, text)


def environment_of(variables: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Work out a container's environment: each value may refer to variables before it, and the last one wins.

    Args:
        variables: ``env`` of a container.
    """
    environment: dict[str, str] = {}
    for variable in variables:
        environment[variable["name"]] = expand(variable.get("value", ""), environment)
    return environment
