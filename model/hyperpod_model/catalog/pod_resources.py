"""What a node leaves to pods, and what pods ask for."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact
from hyperpod_model.catalog.instances import InstanceType

_TABLE = table("pod_resources")

HUGE_PAGES_MIB: Fact[int] = fact("huge pages of a pod with EFA", _TABLE["huge_pages_mib"], _TABLE)
"""Pages of 2 MiB, which libfabric takes buffers from."""

NODE_HUGE_PAGES_MIB: Fact[int] = fact("huge pages of a node with EFA", _TABLE["node_huge_pages_mib"], _TABLE)
"""They are set apart when the node starts, whether pods ask for them or not."""

PARTITION_SLICES: int = _TABLE["partition_slices"]
"""Compute slices of a GPU that is divided."""

SHARED_MEMORY_PATH: str = _TABLE["shared_memory_path"]
SHARED_MEMORY_SHARE: float = _TABLE["shared_memory_share"]
"""Part of a pod's memory that may be shared memory by default. What is in it counts as the pod's memory."""

NEURON_CORES: Fact[dict[str, int]] = fact("Neuron cores of a device", _TABLE["neuron_cores"], _TABLE)
"""Logical cores by instance family."""


def reserved_memory_gib(memory_gib: float) -> float:
    """Memory in GiB of a node that the system keeps.

    Args:
        memory_gib: Memory of the instance type.
    """
    rule = _TABLE["reserved_memory"]
    return float(rule["fixed_gib"] + _banded(memory_gib, rule["bands"]))


def reserved_vcpu(vcpu: int) -> float:
    """Virtual CPUs of a node that the system keeps.

    Args:
        vcpu: Virtual CPUs of the node, with as many threads a core as it has.
    """
    rule = _TABLE["reserved_vcpu"]
    return float(rule["fixed"] + _banded(vcpu, rule["bands"]))


def pod_memory_gib(instance_type: InstanceType, *, tiered_percentage: int = 0) -> int:
    """Memory in whole GiB of a node that is left to pods, 0 where none is.

    Args:
        instance_type: Type of the node.
        tiered_percentage: Share of the node's memory that managed tiered checkpointing takes.
    """
    memory = instance_type.memory_gib
    has_efa = instance_type.efa_interfaces.assuming(because="too little memory asked for does no harm") > 0
    huge_pages = NODE_HUGE_PAGES_MIB.value / 1024 if has_efa else 0
    return max(0, floor(memory - reserved_memory_gib(memory) - huge_pages - memory * tiered_percentage / 100))


def pod_vcpu(instance_type: InstanceType, *, threads_per_core: int) -> int:
    """Whole virtual CPUs of a node that are left to pods, 0 where none is.

    Args:
        instance_type: Type of the node.
        threads_per_core: Threads a core.
    """
    vcpu = node_vcpu(instance_type, threads_per_core=threads_per_core)
    return max(0, floor(vcpu - reserved_vcpu(vcpu)))


def node_vcpu(instance_type: InstanceType, *, threads_per_core: int) -> int:
    """Virtual CPUs of a node.

    Args:
        instance_type: Type of the node.
        threads_per_core: Threads a core: with 1, a type of two has half its virtual CPUs.
    """
    own = own_threads_per_core(instance_type)
    return instance_type.vcpu * min(own, threads_per_core) // own


def own_threads_per_core(instance_type: InstanceType) -> int:
    """Threads a core where a group of instances does not say it.

    Args:
        instance_type: Type of the node.
    """
    fixed = instance_type.threads_per_core_fixed
    return 2 if fixed is None else fixed


def processes_per_device(instance_type: InstanceType) -> int:
    """Processes that train on one accelerator: one a GPU, one a logical Neuron core.

    Args:
        instance_type: A type with accelerators.
    """
    return NEURON_CORES.value.get(instance_type.family, 1)


def partition_share(profile: str) -> float:
    """Part of a GPU that a partition has, by compute slices.

    Args:
        profile: Such as ``mig-1g.10gb``.
    """
    slices = profile.removeprefix("mig-").partition("g.")[0]
    return int(slices) / PARTITION_SLICES


def _banded(amount: float, bands: Iterable[tuple[float | None, float]]) -> float:
    total, left = 0.0, amount
    for width, share in bands:
        part = left if width is None else min(width, left)
        total += part * share
        left -= part
    return total
