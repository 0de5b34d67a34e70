"""What the CloudFormation registry says about one property."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from registry_schema import DEFAULT_REGION

from hyperpod_model.catalog.resource_types import NOT_LISTED
from mutants.mutant import Path

REGION = "us-west-2"


@cache
def _schema_of(kind: str) -> Mapping[str, Any]:
    from cfnlint.schema import PROVIDER_SCHEMA_MANAGER  # takes a third of a second to import

    # The registry does not list some types everywhere; their schema is the same.
    region = DEFAULT_REGION if kind in NOT_LISTED else REGION
    found: Mapping[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, kind).schema
    return found


def schema_at(kind: str, path: Path) -> Mapping[str, Any]:
    """The schema of a property; empty where the registry has none, as for custom resources."""
    if not kind.startswith("AWS::"):
        return {}
    root = _schema_of(kind)
    place = root
    for step in path:
        place = _followed(root, place)
        inner = place.get("properties", {})
        place = place.get("items", {}) if isinstance(step, int) else inner.get(step, {})
    return _followed(root, place)


def _followed(root: Mapping[str, Any], place: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in place:
        found: Any = root
        for step in place["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        place = found
    return place


def is_required(kind: str, path: Path) -> bool:
    """Whether CloudFormation refuses the resource without a property."""
    if isinstance(path[-1], int):
        return False
    return path[-1] in schema_at(kind, path[:-1]).get("required", ())


def values_allowed(kind: str, path: Path) -> list[Any]:
    return list(schema_at(kind, path).get("enum", ()))


def may_be_empty(kind: str, path: Path) -> bool:
    return not schema_at(kind, path).get("minItems")
