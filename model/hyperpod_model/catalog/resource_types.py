"""CloudFormation resource types that not every region with HyperPod seems to have."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact

_TABLE = table("resource_types")

NOT_LISTED: Mapping[str, Fact[tuple[str, ...]]] = MappingProxyType(
    {
        name: fact(f"regions without the resource type {name}", entry, _TABLE)
        for name, entry in _TABLE["not_listed"].items()
    }
)
"""Regions with HyperPod whose registry had no such type, by type."""
