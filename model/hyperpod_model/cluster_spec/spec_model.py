"""What every part of a cluster specification has in common."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from hyperpod_model.catalog.cluster_request import RequestField

T = TypeVar("T")

Items = Annotated[tuple[T, ...], Field(strict=False)]
"""A list in YAML, a tuple in Python: the items are as strict as everything else."""


class SpecModel(BaseModel):
    """A part of a specification: immutable, without unknown fields and without silent conversion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def schema_of(field: RequestField) -> dict[str, Any]:
    """Return what an editor should know of a request field, as JSON Schema keywords.

    The keywords stand in the committed JSON Schema only. When a specification is loaded, the checks on the
    request report the same faults, once and in words.

    Args:
        field: The field of the ``CreateCluster`` request that the specification's field ends up in.
    """
    keywords: dict[str, Any] = {}
    lengths = {
        "string": ("minLength", "maxLength"),
        "integer": ("minimum", "maximum"),
        "list": ("minItems", "maxItems"),
    }
    if field.type in lengths:
        for name, bound in zip(lengths[field.type], (field.min, field.max), strict=True):
            if bound is not None:
                keywords[name] = bound
    if field.pattern is not None and r"\p" not in field.pattern:
        keywords["pattern"] = (
            f"^(?:{field.pattern if field.cloudformation_pattern is None else field.cloudformation_pattern})$"
        )
    return keywords
