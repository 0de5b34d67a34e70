"""What a training pod asks for, with the defaults that an instance type gives."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from hyperpod_model.catalog.instances import InstanceType
from hyperpod_model.catalog.labels import EFA_RESOURCE, HUGE_PAGES_RESOURCE
from hyperpod_model.catalog.pod_resources import (
    HUGE_PAGES_MIB,
    NODE_HUGE_PAGES_MIB,
    SHARED_MEMORY_SHARE,
    partition_share,
    pod_memory_gib,
    pod_vcpu,
)

_HUGE_PAGE_MIB = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSetup:
    """How a cluster sets the nodes of an instance type up, as far as it changes what pods can ask for.

    Attributes:
        threads_per_core: Threads a core. None where that is not known: then pods ask for the virtual CPUs
            that there are with one.
        tiered_memory_percentage: Share of a node's memory that managed tiered checkpointing takes. None for
            what the job says.
    """

    threads_per_core: int | None = None
    tiered_memory_percentage: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PodResources:
    """What a pod asks for. Requests and limits are the same.

    Attributes:
        accelerator_resource: Such as ``nvidia.com/gpu``. None without accelerators.
        accelerators: Devices or partitions.
        efa_interfaces: EFA interfaces.
        huge_pages_mib: Huge pages of 2 MiB, in MiB.
        vcpu: Virtual CPUs.
        memory_gib: Memory in GiB.
        shared_memory_gib: Most of the memory that may be shared memory, in GiB.
    """

    accelerator_resource: str | None
    accelerators: int
    efa_interfaces: int
    huge_pages_mib: int
    vcpu: int
    memory_gib: int
    shared_memory_gib: int

    def quantities(self) -> dict[str, str]:
        """Requests and limits in Kubernetes' words, without what is not asked for."""
        said = {
            self.accelerator_resource or "": (self.accelerators, ""),
            EFA_RESOURCE: (self.efa_interfaces, ""),
            HUGE_PAGES_RESOURCE: (self.huge_pages_mib, "Mi"),
            "cpu": (self.vcpu, ""),
            "memory": (self.memory_gib, "Gi"),
        }
        return {name: f"{amount}{unit}" for name, (amount, unit) in said.items() if name and amount > 0}


def pod_resources(
    instance_type: InstanceType,
    *,
    accelerators: int | None = None,
    gpu_partition: str | None = None,
    efa_interfaces: int | None = None,
    huge_pages_mib: int | None = None,
    vcpu: int | None = None,
    memory_gib: int | None = None,
    shared_memory_gib: int | None = None,
    node: NodeSetup | None = None,
) -> PodResources:
    """Work out what a pod asks for.

    Args:
        instance_type: Type of the node.
        accelerators: Devices, or partitions with ``gpu_partition``. By default all of the node.
        gpu_partition: Profile of a partition of a GPU, such as ``mig-1g.10gb``. By default whole GPUs.
        efa_interfaces: EFA interfaces. By default the node's in proportion to the accelerators, none for
            partitions, and none where the catalog is not certain of their number.
        huge_pages_mib: Huge pages in MiB. By default what EFA takes, if any is asked for.
        vcpu: Virtual CPUs. By default what the node leaves to pods, in proportion to the accelerators; of a
            node whose threads a core are not known, what it leaves with one.
        memory_gib: Memory in GiB. By default likewise.
        shared_memory_gib: Shared memory in GiB. By default half of the memory.
        node: How the cluster sets the nodes up. By default that is not known.
    """
    setup = NodeSetup() if node is None else node
    asked = node_accelerators(instance_type) if accelerators is None else accelerators
    share = share_of_node(instance_type, accelerators=asked, gpu_partition=gpu_partition)
    efa = default_efa_interfaces(instance_type, share=share, gpu_partition=gpu_partition)
    efa = efa if efa_interfaces is None else efa_interfaces
    memory = _part(memory_left_gib(instance_type, node=setup), share) if memory_gib is None else memory_gib
    threads = 1 if setup.threads_per_core is None else setup.threads_per_core
    cpus = pod_vcpu(instance_type, threads_per_core=threads)
    return PodResources(
        accelerator_resource=accelerator_resource(instance_type, gpu_partition) if asked else None,
        accelerators=asked,
        efa_interfaces=efa,
        huge_pages_mib=_huge_pages(efa, share) if huge_pages_mib is None else huge_pages_mib,
        vcpu=_part(cpus, share) if vcpu is None else vcpu,
        memory_gib=memory,
        shared_memory_gib=max(1, floor(memory * SHARED_MEMORY_SHARE))
        if shared_memory_gib is None
        else shared_memory_gib,
    )


def accelerator_resource(instance_type: InstanceType, gpu_partition: str | None = None) -> str | None:
    """Name by which pods ask for accelerators. None where there are none.

    Args:
        instance_type: Type of the node.
        gpu_partition: Profile of a partition of a GPU. By default whole devices.
    """
    if instance_type.accelerator is None:
        return None
    whole = instance_type.accelerator.kubernetes_resource
    return whole if gpu_partition is None else f"{whole.partition('/')[0]}/{gpu_partition}"


def node_accelerators(instance_type: InstanceType) -> int:
    """Accelerators of a node, 0 where there are none."""
    return 0 if instance_type.accelerator is None else instance_type.accelerator.count


def share_of_node(instance_type: InstanceType, *, accelerators: int, gpu_partition: str | None) -> float:
    """Part of a node that a pod has, by its accelerators; the whole of one without any.

    Args:
        instance_type: Type of the node.
        accelerators: Devices or partitions of the pod.
        gpu_partition: Profile of a partition. None for whole devices.
    """
    total = node_accelerators(instance_type)
    if total == 0:
        return 1.0
    each = 1.0 if gpu_partition is None else partition_share(gpu_partition)
    return min(1.0, accelerators * each / total)


def default_efa_interfaces(instance_type: InstanceType, *, share: float, gpu_partition: str | None) -> int:
    """EFA interfaces of a pod that does not say how many.

    Args:
        instance_type: Type of the node.
        share: Part of the node that the pod has.
        gpu_partition: Profile of a partition; collective communication does not cross them.
    """
    return 0 if gpu_partition is not None else floor(instance_type.efa_interfaces.if_certain(0) * share)


def memory_left_gib(instance_type: InstanceType, *, node: NodeSetup) -> int:
    """Memory in GiB that a node leaves to pods.

    Args:
        instance_type: Type of the node.
        node: How the cluster sets the nodes up.
    """
    percentage = node.tiered_memory_percentage
    return pod_memory_gib(instance_type, tiered_percentage=0 if percentage is None else percentage)


def _part(amount: int, share: float) -> int:
    return max(1, floor(amount * share))


def _huge_pages(efa_interfaces: int, share: float) -> int:
    if efa_interfaces == 0:
        return 0
    fair = floor(NODE_HUGE_PAGES_MIB.value * share / _HUGE_PAGE_MIB) * _HUGE_PAGE_MIB
    return min(HUGE_PAGES_MIB.value, fair)
