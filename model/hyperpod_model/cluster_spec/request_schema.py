"""What editors should know of a cluster specification's fields, from the ``CreateCluster`` request."""

from __future__ import annotations

from typing import Any

from hyperpod_model.catalog.cluster_request import RequestField


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
