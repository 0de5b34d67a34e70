"""Decoded templates and the nested stacks that belong to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperpod_policy.marks import Marks


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
        marks: On which line of the file each part of the body stands; ``None`` if it came from no file.
    """

    body: Mapping[str, Any]
    file: str | None = None
    region: str | None = None
    account: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    nested: Mapping[str, Document] = field(default_factory=dict)
    marks: Marks | None = field(default=None, compare=False, repr=False)

    def line_of(self, logical_id: str, path: Sequence[str | int] = ()) -> int | None:
        """Return the line of a resource's property, from 1, or of the nearest one around it; else ``None``.

        Args:
            logical_id: The resource.
            path: Below its ``Properties``. By default none, which asks for the resource itself.
        """
        if self.marks is None:
            return None
        inner = ("Properties", *path) if path else ()
        return self.marks.line(("Resources", logical_id, *inner))
