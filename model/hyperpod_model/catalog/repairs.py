"""Repairs of nodes: when HyperPod takes them, and which one the words of its health checks ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact
from hyperpod_model.catalog.xids import Repair

_TABLE = table("repairs")


@dataclass(frozen=True, slots=True)
class RepairText:
    """Text in a log of HyperPod's checks that asks for a repair.

    Attributes:
        contains: What the line holds.
        repair: What it asks for.
        words: What it means.
    """

    contains: str
    repair: Repair
    words: str


REPAIRABLE_STATUSES: Final[tuple[str, ...]] = tuple(_TABLE["repairable_statuses"])
"""Instance statuses in which no change is under way."""

REFUSALS: Final[Mapping[str, str]] = MappingProxyType(_TABLE["refusals"])
"""What the error codes of a repair mean, node by node."""

HEALTH_STATUS_REPAIRS: Final[Mapping[str, Repair]] = MappingProxyType(_TABLE["health_statuses"])
"""Values of the label ``node-health-status`` that ask for a repair."""

CONDITION_REPAIRS: Final[Mapping[str, Fact[Repair]]] = MappingProxyType(
    {name: fact(f"repair after {name}", row, _TABLE) for name, row in _TABLE["conditions"].items()}
)
"""Conditions that the health monitoring agent sets on a node, by name."""

REASON_KINDS: Final[Mapping[str, Fact[str]]] = MappingProxyType(
    {name: fact(f"kind of {name}", row, _TABLE) for name, row in _TABLE["reasons"].items()}
)
"""Reasons that the health monitoring agent gives, and the kind of fault (see the Xid kinds) each names."""

REPAIR_TEXTS: Final[tuple[RepairText, ...]] = tuple(RepairText(**row) for row in _TABLE["texts"])

MAX_CHECKED_INSTANCES: Final[int] = _TABLE["on_demand_checks"]["instances_of_a_group"]
MAX_CHECKED_GROUPS: Final[int] = _TABLE["on_demand_checks"]["groups"]
"""Of one request for deep health checks; a cluster runs one such request at a time."""

NODE_NAME_PREFIX: Final[str] = fact(
    "beginning of node names on EKS", _TABLE["node_name_prefix"], _TABLE
).value
"""Before the instance id in the name of a Kubernetes node."""
