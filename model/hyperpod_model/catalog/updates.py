"""What an update of a stack cannot change: what CloudFormation replaces, and what only HyperPod refuses."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from hyperpod_model.catalog._tables import fact, frozen, table
from hyperpod_model.catalog.fact import Fact

PropertyPath: TypeAlias = tuple[str, ...]


class FixedSetting(NamedTuple):
    """A setting of an instance group that stays as the group was created with.

    Attributes:
        path: Where in the group, as the ``CreateCluster`` request spells it.
        words: How to call it.
    """

    path: PropertyPath
    words: str


_TABLE = table("updates")

CREATE_ONLY: Mapping[str, tuple[PropertyPath, ...]] = MappingProxyType(
    {name: frozen(paths) for name, paths in _TABLE["create_only"].items()}
)
"""Properties whose change makes CloudFormation create another resource, by resource type."""

NESTED_LUSTRE_CREATE_ONLY: Fact[tuple[PropertyPath, ...]] = fact(
    "nested properties of a Lustre file system that are chosen at creation",
    _TABLE["nested_lustre_create_only"],
    _TABLE,
)

PHYSICAL_NAMES: Mapping[str, str] = MappingProxyType(_TABLE["physical_names"])
"""The property that holds a resource's own name, which no second resource may have meanwhile."""

FIXED_GROUP_SETTINGS: tuple[FixedSetting, ...] = tuple(
    FixedSetting(frozen(row["path"]), row["words"]) for row in _TABLE["fixed_group_settings"]
)
"""Not marked in the registry schema. The keys of EBS volumes and the kind of capacity are fixed as well."""

SLURM_CONFIGURATION: Fact[str] = fact("way back from API-driven Slurm", _TABLE["slurm_configuration"], _TABLE)
ACCOUNTING_DATABASE: Fact[str] = fact(
    "way back from an accounting database", _TABLE["accounting_database"], _TABLE
)
SLURM_PROVISIONING_MODE: Fact[str] = fact(
    "way to continuous provisioning with Slurm", _TABLE["provisioning_mode"], _TABLE
)
PROVISIONING_MODE: Fact[str] = fact(
    "changes of the provisioning mode", _TABLE["provisioning_mode_otherwise"], _TABLE
)
KUBERNETES_MINOR_STEPS: Fact[int] = fact(
    "minor versions by which an EKS cluster is updated at once", _TABLE["kubernetes_minor_steps"], _TABLE
)
"""Upwards only."""

NEW_GROUP_INSTANCE_COUNT: Fact[int] = fact(
    "instances of a group that an update adds", _TABLE["new_group_instance_count"], _TABLE
)
