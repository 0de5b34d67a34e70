"""What a job's pods ask of their nodes."""

from __future__ import annotations

from hyperpod_model.catalog.fact import UnknownNameError
from hyperpod_model.catalog.instances import InstanceType, instance_types
from hyperpod_model.catalog.pod_resources import (
    HUGE_PAGES_MIB,
    NODE_HUGE_PAGES_MIB,
    node_vcpu,
    own_threads_per_core,
    pod_vcpu,
)
from hyperpod_model.checks.jobs.bounds import check_at_least
from hyperpod_model.checks.jobs.defaults import Job, instance_type_of, most_nodes
from hyperpod_model.checks.reading import absent, at, given, number, quoted, text
from hyperpod_model.faults import Fault
from hyperpod_model.pod_resources import NodeSetup, memory_left_gib, node_accelerators, pod_resources


def check_pod_size(job: Job) -> list[Fault]:
    """Check what the pods ask for against their instance type.

    Args:
        job: The job.
    """
    faults = check_at_least(job, ("accelerators", "vcpu", "memory_gib", "shared_memory_gib"), 1)
    faults += check_at_least(job, ("efa_interfaces", "huge_pages_mib"), 0)
    found = instance_type_of(job)
    name = text(job, "instance_type")
    if found is None:
        return [*faults, *([] if name is None else _unlisted(name))]
    if faults:
        return faults
    return [
        *_check_partition(job, found),
        *_check_accelerators(job, found),
        *_check_efa(job, found),
        *_check_huge_pages(job, found),
        *_check_vcpu(job, found),
        *_check_memory(job, found),
    ]


def _unlisted(name: str) -> list[Fault]:
    suggestions = UnknownNameError("instance type", name, instance_types()).suggestions
    if f"ml.{name}" in instance_types():
        suggestions = (f"ml.{name}",)
    hint = f"; did you mean {' or '.join(suggestions)}" if suggestions else ", such as ml.p5.48xlarge"
    return [Fault(("instance_type",), f"must be an instance type of HyperPod, got {name!r}{hint}")]


def _check_partition(job: Job, found: InstanceType) -> list[Fault]:
    if not given(job, "gpu_partition"):
        return []
    profile = text(job, "gpu_partition")
    if profile is not None and profile not in found.mig_profiles:
        allowed = f"one of {quoted(found.mig_profiles)}" if found.mig_profiles else "left out"
        return [
            Fault(("gpu_partition",), f"must be {allowed} for {found.name}, got {profile!r}"),
        ]
    faults = []
    if absent(job, "accelerators"):
        faults.append(Fault(("accelerators",), "is required with gpu_partition: the number of partitions"))
    nodes, efa = most_nodes(job), number(job, "efa_interfaces")
    if nodes is not None and nodes > 1:
        message = f"is for jobs of one pod, since NCCL does not cross partitions, got {nodes} nodes"
        faults.append(Fault(("gpu_partition",), f"{message}; take whole GPUs"))
    if efa is not None and efa > 0:
        faults.append(Fault(("efa_interfaces",), f"must be 0 with gpu_partition, got {efa}; leave it out"))
    return faults


def _check_accelerators(job: Job, found: InstanceType) -> list[Fault]:
    said, most = number(job, "accelerators"), node_accelerators(found)
    if said is None or not absent(job, "gpu_partition"):
        return []
    if most == 0:
        return [Fault(("accelerators",), f"are not in {found.name}; leave them out, or take another type")]
    if said > most:
        return [Fault(("accelerators",), f"must be at most {most}, those of {found.name}, got {said}")]
    return []


def _check_efa(job: Job, found: InstanceType) -> list[Fault]:
    path, said, fact = ("efa_interfaces",), number(job, "efa_interfaces"), found.efa_interfaces
    if not fact.certain:
        if absent(job, "efa_interfaces") and absent(job, "gpu_partition"):
            likely = fact.assuming(because="the doubt is passed on to the user")
            number_or = "the number that its nodes offer" if likely == 0 else str(likely)
            message = (
                f"are uncertain for {found.name}, so that none is asked for: {fact.doubt}; give {number_or}, "
                "or 0 to say that TCP will do"
            )
            return [Fault(path, message, "warning")]
        return []
    most = fact.value
    if said is not None and most == 0 and said > 0:
        return [Fault(path, f"are not in {found.name}: such a pod never starts; leave them out")]
    if said is not None and said > most:
        return [Fault(path, f"must be at most {most}, those of {found.name}, got {said}")]
    nodes = most_nodes(job)
    whole = absent(job, "accelerators") or number(job, "accelerators") == node_accelerators(found)
    if said is not None and whole and said < most and nodes is not None and nodes > 1:
        rest = "so that the job falls back to TCP" if said == 0 else f"{most - said} lie idle"
        message = f"are {most} in {found.name}, got {said}: {rest}; leave it out for all"
        return [Fault(path, message, "warning")]
    return []


def _check_huge_pages(job: Job, found: InstanceType) -> list[Fault]:
    path, said = ("huge_pages_mib",), number(job, "huge_pages_mib")
    if said is None:
        return []
    if said % 2:
        return [Fault(path, f"must be a multiple of 2, since pages have 2 MiB, got {said}")]
    if said > 0 and found.efa_interfaces.if_certain(1) == 0:
        message = f"are set apart on nodes with EFA only, and {found.name} has none; leave it out, or give 0"
        return [Fault(path, message)]
    if said > NODE_HUGE_PAGES_MIB.value:
        message = f"must be at most {NODE_HUGE_PAGES_MIB.value}, what nodes set apart, got {said}"
        return [Fault(path, f"{message}; the usual is {HUGE_PAGES_MIB.value}")]
    return []


def _check_vcpu(job: Job, found: InstanceType) -> list[Fault]:
    own = own_threads_per_core(found)
    said, most = number(job, "vcpu"), pod_vcpu(found, threads_per_core=own)
    if said is None or said <= most:
        return []
    return [
        Fault(
            ("vcpu",),
            f"must be at most {most} on {found.name}: of its {node_vcpu(found, threads_per_core=own)} the "
            "system keeps some, "
            f"got {said}",
        )
    ]


def _check_memory(job: Job, found: InstanceType) -> list[Fault]:
    if not _sizes_known(job):
        return []
    percentage = number(job, "tiered_checkpointing", "memory_percentage")
    node = NodeSetup(tiered_memory_percentage=percentage)
    most, said = memory_left_gib(found, node=node), number(job, "memory_gib")
    tiered = "" if percentage is None else f" and tiered checkpointing {percentage} percent"
    if most < 1:
        message = f"leaves pods no memory on {found.name}; lower it, here and in the cluster"
        return [Fault(("tiered_checkpointing", "memory_percentage"), message)]
    if said is not None and said > most:
        return [
            Fault(
                ("memory_gib",),
                f"must be at most {most} on {found.name}: of its {found.memory_gib:g} GiB the system and "
                "huge "
                f"pages take some{tiered}, got {said}",
            )
        ]
    asked = pod_resources(
        found,
        accelerators=number(job, "accelerators"),
        gpu_partition=text(job, "gpu_partition"),
        memory_gib=said,
        node=node,
    )
    shared = number(job, "shared_memory_gib")
    if shared is not None and shared > asked.memory_gib:
        message = f"must be at most memory_gib, {asked.memory_gib}, of which it is a part, got {shared}"
        return [Fault(("shared_memory_gib",), message)]
    return []


def _sizes_known(job: Job) -> bool:
    profile = text(job, "gpu_partition")
    found = instance_type_of(job)
    legal = absent(job, "gpu_partition") or (found is not None and profile in found.mig_profiles)
    return legal and all(
        absent(job, *field) or (given(job, *field) and at(job, *field) is not None)
        for field in (("accelerators",), ("memory_gib",), ("tiered_checkpointing",))
    )
