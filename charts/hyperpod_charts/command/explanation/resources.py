"""What a pod asks for, against what its node has."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_charts.command.explanation.reason import Reason
from hyperpod_model.catalog.instances import InstanceType, instance_type
from hyperpod_model.catalog.labels import EFA_RESOURCE, HUGE_PAGES_RESOURCE
from hyperpod_model.catalog.pod_resources import (
    NODE_HUGE_PAGES_MIB,
    SHARED_MEMORY_PATH,
    node_vcpu,
    own_threads_per_core,
    reserved_memory_gib,
    reserved_vcpu,
)
from hyperpod_model.job_spec import JobSpec, NodeSetup
from hyperpod_model.pod_resources import node_accelerators, share_of_node

_OWN = "{field} says so"


def resources(job: JobSpec, node: NodeSetup | None) -> Iterator[Reason]:
    """Explain what each pod asks for. Requests and limits are the same.

    Args:
        job: The job.
        node: How the cluster sets its nodes up; None where no cluster was given.
    """
    found, asked = instance_type(job.instance_type), job.resources(node)
    quantities = asked.quantities()
    share = share_of_node(found, accelerators=asked.accelerators, gpu_partition=job.gpu_partition)
    part = "" if share == 1 else f", and the pod has {share:.0%} of it"
    if asked.accelerator_resource is not None:
        total = node_accelerators(found)
        why = f"all {total} of the node" if job.accelerators is None else f"accelerators says so, of {total}"
        yield Reason(asked.accelerator_resource, str(asked.accelerators), why)
    yield Reason(EFA_RESOURCE, str(asked.efa_interfaces), _efa(job, found, part))
    if HUGE_PAGES_RESOURCE in quantities:
        yield Reason(
            HUGE_PAGES_RESOURCE,
            quantities[HUGE_PAGES_RESOURCE],
            _OWN.format(field="huge_pages_mib")
            if job.huge_pages_mib is not None
            else f"EFA takes its buffers from them; a node sets {NODE_HUGE_PAGES_MIB.value} MiB apart",
        )
    yield Reason(
        "cpu",
        quantities["cpu"],
        _OWN.format(field="vcpu") if job.vcpu is not None else _cpu(found, node) + part,
    )
    yield Reason(
        "memory",
        quantities["memory"],
        _OWN.format(field="memory_gib") if job.memory_gib is not None else _memory(job, found, node) + part,
    )
    yield Reason(
        SHARED_MEMORY_PATH,
        f"{asked.shared_memory_gib}Gi",
        _OWN.format(field="shared_memory_gib")
        if job.shared_memory_gib is not None
        else "half of the memory, of which it is part: NCCL and data loaders share it between processes",
    )


def _efa(job: JobSpec, found: InstanceType, part: str) -> str:
    if job.efa_interfaces is not None:
        return _OWN.format(field="efa_interfaces")
    count = found.efa_interfaces
    if not count.certain:
        return f"the number of {found.name} is not certain ({count.doubt}); say efa_interfaces if you know it"
    if count.value == 0:
        return f"{found.name} has no EFA"
    if job.gpu_partition is not None:
        return "none for partitions of GPUs: collective communication does not cross them"
    return f"{found.name} has {count.value}{part}"


def _cpu(found: InstanceType, node: NodeSetup | None) -> str:
    own = own_threads_per_core(found)
    said = None if node is None else node.threads_per_core
    threads = 1 if said is None else min(said, own)
    total = node_vcpu(found, threads_per_core=threads)
    why = f"{total} with {threads} {'thread' if threads == 1 else 'threads'} a core"
    guess = (
        "" if said is not None or own == 1 else ", which fits any cluster; with --cluster, as many as it has"
    )
    return f"{why}{guess}, less {reserved_vcpu(total):.2f} for the system"


def _memory(job: JobSpec, found: InstanceType, node: NodeSetup | None) -> str:
    memory = found.memory_gib
    parts = [f"{memory:g} GiB less {reserved_memory_gib(memory):.1f} for the system"]
    if found.efa_interfaces.if_certain(1) > 0:
        parts.append(f"{NODE_HUGE_PAGES_MIB.value / 1024:.1f} of huge pages")
    percentage = None if node is None else node.tiered_memory_percentage
    if percentage is None and job.tiered_checkpointing is not None:
        percentage = job.tiered_checkpointing.memory_percentage
    if percentage:
        parts.append(f"{memory * percentage / 100:.0f} for tiered checkpointing ({percentage} percent)")
    return ", ".join(parts)
