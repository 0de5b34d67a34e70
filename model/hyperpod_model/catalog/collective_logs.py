"""What the logs of NCCL, aws-ofi-nccl and libfabric say, and what it means on EFA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact


@dataclass(frozen=True, slots=True)
class LogError:
    """A known error.

    Attributes:
        id: Its name here.
        says: Words of its line, any of which tells it.
        means: What has happened.
        fix: The way out.
        source: Where the words stand.
    """

    id: str
    says: tuple[str, ...]
    means: str
    fix: str
    source: str


_TABLE = table("collective_logs")


def _error(row: dict[str, Any]) -> LogError:
    says = (row["says"], *row.get("also_says", ()))
    return LogError(row["id"], says, row["means"], row["fix"], row["source"])


EFA_NETWORKS: tuple[str, ...] = tuple(_TABLE["efa_networks"])
"""What NCCL calls the network of aws-ofi-nccl, in old and new versions of it."""

SOCKET_NETWORK: str = _TABLE["socket_network"]
"""What NCCL calls TCP."""

EFA_PROVIDER: str = _TABLE["efa_provider"]
"""Libfabric's provider for EFA. aws-ofi-nccl may run on others, which are no EFA."""

GPU_DIRECT_REQUIRED: Fact[tuple[str, ...]] = fact(
    "instance types on which aws-ofi-nccl insists on GPUDirect RDMA", _TABLE["gpu_direct_required"], _TABLE
)
PLATFORM_NAMES: Mapping[str, str] = MappingProxyType(_TABLE["platform_names"])
"""Instance types by the name that old versions of aws-ofi-nccl print in place of the type."""

ALGORITHMS: Mapping[str, str] = MappingProxyType(_TABLE["algorithms"])
"""Algorithms of NCCL for readers, by their name in lower case."""

MISCOUNTED_INTERFACES: Mapping[str, Fact[tuple[int, str]]] = MappingProxyType(
    {
        name: fact(f"interfaces that {name} seems to have", row, _TABLE)
        for name, row in _TABLE["miscounted_interfaces"].items()
    }
)
"""By instance type, a wrong number of interfaces, and why it is found."""

ERRORS: tuple[LogError, ...] = tuple(map(_error, _TABLE["errors"]))
"""Those that tell most first."""
