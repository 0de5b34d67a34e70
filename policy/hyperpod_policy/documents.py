"""Decoded templates and the nested stacks that belong to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Document:
    """One decoded template.

    Attributes:
        body: The template as decoded from JSON or YAML, intrinsic functions in their long form.
        file: Where it was read from, for reports.
        region: Region it is deployed to, if known.
        account: Account it is deployed to, if known.
        parameters: Values given to its parameters, by name; a parameter that is not here has its default.
        nested: Templates of its nested stacks, by the logical id of the ``AWS::CloudFormation::Stack``.
    """

    body: Mapping[str, Any]
    file: str | None = None
    region: str | None = None
    account: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    nested: Mapping[str, Document] = field(default_factory=dict)
