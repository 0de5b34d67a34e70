"""Instance types of HyperPod clusters: accelerators, network interfaces, pods and addresses a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from hyperpod_model.catalog._tables import Table, fact, table
from hyperpod_model.catalog.fact import Fact, UnknownNameError


@dataclass(frozen=True, slots=True)
class Accelerator:
    """The accelerators of an instance type.

    Attributes:
        kind: ``gpu`` or ``neuron`` (AWS Trainium).
        model: Such as ``NVIDIA H100``.
        count: Devices a node.
        memory_gib_each: Memory of one device in GiB.
        kubernetes_resource: Name that pods request, such as ``nvidia.com/gpu``.
    """

    kind: Literal["gpu", "neuron"]
    model: str
    count: int
    memory_gib_each: Fact[float]
    kubernetes_resource: str


@dataclass(frozen=True, slots=True)
class InstanceType:
    """What is known of an instance type.

    Attributes:
        name: With the ``ml.`` prefix, as in the API and in the label ``node.kubernetes.io/instance-type``.
        family: Between the dots, such as ``p5``.
        vcpu: Virtual CPUs with all threads.
        memory_gib: Memory in GiB.
        architecture: ``x86_64`` or ``arm64``.
        accelerator: None for CPU types.
        efa_interfaces: EFA interfaces a node, the count that pods request as ``vpc.amazonaws.com/efa``.
        rdma_read: Whether EFA on this type supports RDMA read; False without EFA.
        rdma_write: Whether EFA on this type supports RDMA write; False without EFA.
        max_pods: Pods a node takes on HyperPod with EKS.
        network_cards: Network cards a node.
        eks_addresses: VPC addresses that a node takes with EKS.
        slurm_addresses: VPC addresses that a node takes with Slurm.
        local_nvme_gb: Local NVMe storage in GB, 0 where there is none.
        threads_per_core_fixed: Threads a core where the type allows a single value, else None.
        mig_profiles: Multi-instance GPU profiles, empty where there are none.
    """

    name: str
    family: str
    vcpu: int
    memory_gib: float
    architecture: Literal["x86_64", "arm64"]
    accelerator: Accelerator | None
    efa_interfaces: Fact[int]
    rdma_read: bool
    rdma_write: bool
    max_pods: Fact[int]
    network_cards: int
    eks_addresses: Fact[int]
    slurm_addresses: Fact[int]
    local_nvme_gb: int
    threads_per_core_fixed: int | None
    mig_profiles: tuple[str, ...]

    @property
    def is_accelerated(self) -> bool:
        """Whether the type has GPUs or Trainium."""
        return self.accelerator is not None


@cache
def instance_types() -> Mapping[str, InstanceType]:
    """All instance types of the API's enumeration, by name, in the API's order.

    Source: botocore, ``ClusterInstanceType``.
    """
    owner = table("instances")
    return MappingProxyType({name: _instance_type(name, row, owner) for name, row in owner["types"].items()})


def instance_type(name: str) -> InstanceType:
    """Look an instance type up.

    Args:
        name: Such as ``ml.p5.48xlarge``.

    Raises:
        UnknownNameError: If the API does not list it.
    """
    types = instance_types()
    if name not in types:
        raise UnknownNameError("instance type", name, types)
    return types[name]


@cache
def accelerated_instance_types() -> tuple[str, ...]:
    """Names of the types with GPUs or Trainium, in the API's order."""
    return tuple(name for name, found in instance_types().items() if found.is_accelerated)


def _instance_type(name: str, row: dict[str, Any], owner: Table) -> InstanceType:
    doubts: dict[str, str] = owner["doubts"]
    uncertain: dict[str, str] = row["uncertain"]

    def about(what: str, field: str, value: Any) -> Fact[Any]:
        entry = {"value": value, "claims": row.get("claims", {}).get(field, ())}
        if field in uncertain:
            entry["doubt"] = doubts[uncertain[field]]
        return fact(f"{what} of {name}", entry, owner)

    accelerator = row.get("accelerator")
    return InstanceType(
        name=name,
        family=name.split(".")[1],
        vcpu=row["vcpu"],
        memory_gib=row["memory_gib"],
        architecture=row["architecture"],
        accelerator=accelerator
        and Accelerator(
            kind=accelerator["kind"],
            model=accelerator["model"],
            count=accelerator["count"],
            memory_gib_each=about("accelerator memory", "accelerator_memory", accelerator["memory_gib_each"]),
            kubernetes_resource=owner["kubernetes_resources"][accelerator["kind"]],
        ),
        efa_interfaces=about("EFA interfaces", "efa_interfaces", row["efa_interfaces"]),
        rdma_read=row["rdma_read"],
        rdma_write=row["rdma_write"],
        max_pods=about("pods a node", "max_pods", row["max_pods"]),
        network_cards=row["network_cards"],
        eks_addresses=about("addresses a node with EKS", "eks_addresses", row["eks_addresses"]),
        slurm_addresses=about("addresses a node with Slurm", "slurm_addresses", row["slurm_addresses"]),
        local_nvme_gb=row["local_nvme_gb"],
        threads_per_core_fixed=row.get("threads_per_core_fixed"),
        mig_profiles=tuple(row.get("mig_profiles", ())),
    )
