"""What of a job specification has no counterpart on a Slurm cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from hyperpod_charts.slurm_batch import SlurmBatch
from hyperpod_model.cluster_spec import ClusterSpec, InstanceGroupSpec
from hyperpod_model.faults import Fault
from hyperpod_model.job_spec import JobSpec

_MOST_SIGNAL_SECONDS: Final = 65535
"""Of ``sbatch --signal``. Source: ``man sbatch``."""

_SIGNAL_EARLY_SECONDS: Final = 60
"""How much sooner than asked Slurm may send the signal. Source: ``man sbatch``, ``--signal``."""

SHELL_VARIABLES: Final = frozenset({"UID", "EUID", "PPID", "BASHOPTS", "SHELLOPTS", "BASH_VERSINFO"})
"""Variables that bash lets nobody set. Source: ``man bash``, "Shell Variables"."""

_EXPANSION: Final = re.compile(r"(?<!\$)\$\([A-Za-z_][\w.-]*\)")
EKS_ONLY: Final[Mapping[str, str]] = {
    "elastic": "say nodes",
    "tiered_checkpointing": "keep checkpoints on a file system or in a bucket",
    "checkpointless": "keep checkpoints on a file system or in a bucket",
    "gpu_partition": "say accelerators",
}
"""Fields that no batch file is written of, and what to do instead."""

LEFT_OUT: Final[Mapping[str, str]] = {
    "namespace": "Slurm has none",
    "team": "use an account of Slurm, with sbatch --account",
    "priority_class": "use a quality of service, with sbatch --qos",
    "pod_priority_class": "use a quality of service, with sbatch --qos",
    "service_account": "processes act with the execution role of their instance group",
    "node_selector": "choose a partition",
    "tolerations": "Slurm has none",
    "topology": "Slurm places nodes by its own topology, see sbatch --switches",
    "deep_health_checked": "Slurm gives no work to a node under deep health checks",
    "labels": "Slurm has none",
    "vcpu": "a job has its nodes whole",
    "memory_gib": "a job has its nodes whole",
    "shared_memory_gib": "a job has its nodes whole",
    "huge_pages_mib": "they are set up on the node, for all of its jobs",
    "efa_interfaces": "a job has its nodes whole",
    "rendezvous_id": "each start gets an id of its own",
    "ttl_seconds_after_finished": "the log stays",
    "clean_pod_policy": "Slurm ends all processes of a job that ends",
}
"""Fields of which a batch file says nothing, and why that is well or what to do instead."""


def faults_on_slurm(job: JobSpec, batch: SlurmBatch) -> list[Fault]:
    """Find what a batch file cannot say.

    Args:
        job: The job.
        batch: How it is to run.

    Returns:
        Errors, for a job that would not be what it says, and warnings of what is left out.
    """
    faults = [
        Fault((name,), f"is there on clusters with EKS only; leave it out and {instead}")
        for name, instead in EKS_ONLY.items()
        if getattr(job, name) is not None
    ]
    if job.operator == "hyperpod":
        faults.append(Fault(("operator",), "'hyperpod' is there on clusters with EKS only; leave it out"))
    if job.spares:
        faults.append(
            Fault(
                ("spares",),
                "are there on clusters with EKS only; leave nodes of the partition idle, and HyperPod or a "
                "requeue takes them",
            )
        )
    if "@" in job.image and batch.image_file is None and batch.venv is None:
        faults.append(
            Fault(
                ("image",),
                "must have a tag, since not every enroot fetches by digest; give a tag, or a file of enroot "
                "with --image-file",
            )
        )
    faults += [*_expansions(job), *_variables(job), *_times(job), *_writable(job)]
    if job.rendezvous == "master":
        faults.append(
            Fault(
                ("rendezvous",),
                "is left out of a batch file: processes meet by c10d, at the step's first node",
                "warning",
            )
        )
    mounts = [PurePosixPath(claim.mount_path) for claim in job.persistent_volume_claims]
    if batch.venv is not None and job.script is not None:
        script = PurePosixPath(job.script)
        if script.is_absolute() and not any(script.is_relative_to(mount) for mount in mounts):
            faults.append(
                Fault(
                    ("script",),
                    f"must be on shared storage where --venv is in place of the image, got '{script}'; put "
                    "it below a mount_path of persistent_volume_claims",
                    "warning",
                )
            )
    return [
        *faults,
        *(
            Fault((name,), f"is left out of a batch file: {why}", "warning")
            for name, why in LEFT_OUT.items()
            if name in job.model_fields_set and _says_something(getattr(job, name))
        ),
    ]


def _expansions(job: JobSpec) -> list[Fault]:
    texts = {"command": job.command, "script_args": job.script_args, "environment": job.environment.values()}
    return [
        Fault(
            (name,),
            f"has {found[0]}, which only Kubernetes expands; write the value, or have a script read the "
            "variable",
        )
        for name, values in texts.items()
        for found in map(_EXPANSION.search, values)
        if found is not None
    ]


def _variables(job: JobSpec) -> list[Fault]:
    reasons = {
        name: "is what the batch file finds srun by; have the image set it, or the command, as env does"
        for name in job.environment
        if name == "PATH"
    }
    reasons |= {
        name: "is a variable that bash lets nobody set; leave it out"
        for name in job.environment
        if name in SHELL_VARIABLES
    }
    reasons |= {
        name: "is set by Slurm, whose commands read it; leave it out"
        for name in job.environment
        if name.startswith(("SLURM_", "SLURMD_"))
    }
    return [Fault(("environment", name), reason) for name, reason in reasons.items()]


def _times(job: JobSpec) -> list[Fault]:
    grace, limit = job.grace_period_seconds, job.active_deadline_seconds
    if grace > _MOST_SIGNAL_SECONDS:
        return [
            Fault(
                ("grace_period_seconds",),
                f"must be at most {_MOST_SIGNAL_SECONDS}, which --signal of sbatch takes, got {grace}",
            )
        ]
    if limit is not None and limit <= grace + _SIGNAL_EARLY_SECONDS:
        return [
            Fault(
                ("active_deadline_seconds",),
                f"must be more than {grace + _SIGNAL_EARLY_SECONDS}, got {limit}: Slurm sends SIGTERM "
                f"grace_period_seconds ({grace}) before it and up to {_SIGNAL_EARLY_SECONDS} sooner, when "
                "the job begins; allow more time, or less grace",
            )
        ]
    return []


def _writable(job: JobSpec) -> list[Fault]:
    return [
        Fault(
            ("persistent_volume_claims", index, "read_only"),
            f"is left out of a batch file: the job writes below {claim.mount_path} where its user may",
            "warning",
        )
        for index, claim in enumerate(job.persistent_volume_claims)
        if claim.read_only
    ]


def partition_on(job: JobSpec, cluster: ClusterSpec) -> str | None:
    """Return the partition with the most nodes of a job's instance type.

    Args:
        job: The job.
        cluster: A Slurm cluster.

    Returns:
        None where the cluster's specification names none, as where lifecycle scripts configure Slurm.
    """
    sizes = _sizes(job, cluster)
    return max(sizes, key=lambda name: sizes[name], default=None)


def faults_on_slurm_cluster(job: JobSpec, batch: SlurmBatch, cluster: ClusterSpec) -> list[Fault]:
    """Check a job against the Slurm cluster that it is to run on.

    Args:
        job: The job.
        batch: How it is to run.
        cluster: The cluster.
    """
    if cluster.orchestrator != "slurm":
        return [Fault((), "is to be a batch file, and the cluster runs EKS; leave --slurm out")]
    groups = [group for group in cluster.instance_groups if job.instance_type in group.named_instance_types]
    groups = [group for group in groups if group.node_type in (None, "Compute")]
    if not groups:
        return [Fault(("instance_type",), f"no compute group of the cluster has {job.instance_type}")]
    sizes = _sizes(job, cluster)
    room = sum(group.instance_count for group in groups)
    where = "the cluster"
    if sizes and batch.partition is not None:
        asked = batch.partition.split(",")
        unknown = [name for name in asked if name not in sizes]
        if unknown:
            return [
                Fault(
                    (),
                    f"partition {', '.join(unknown)} has no {job.instance_type}; choose from "
                    f"{', '.join(sizes)}",
                )
            ]
        room, where = max(sizes[name] for name in asked), f"partition {batch.partition}"
    elif sizes:
        name = max(sizes, key=lambda each: sizes[each])
        room, where = sizes[name], f"partition {name}"
    if job.max_nodes > room:
        return [Fault(("nodes",), f"must be at most {room}, which {where} has, got {job.max_nodes}")]
    return []


def _sizes(job: JobSpec, cluster: ClusterSpec) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for group in cluster.instance_groups:
        if job.instance_type in group.named_instance_types:
            for name in _partitions(group):
                sizes[name] = sizes.get(name, 0) + group.instance_count
    return sizes


def _partitions(group: InstanceGroupSpec) -> tuple[str, ...]:
    return tuple(group.partition_names)


def _says_something(value: Any) -> bool:
    return value not in (None, False, (), {}, [])
