"""What other tools call the fields of a job."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "nodes": ("replicas", "node_count", "num_nodes", "nnodes", "instance_count", "workers"),
    "accelerators": ("gpus", "gpu", "gpu_count", "num_gpus", "gpus_per_node", "accelerators_per_node"),
    "processes_per_node": ("nproc_per_node", "nproc", "tasks_per_node", "ntasks_per_node"),
    "efa_interfaces": ("efa", "efa_count"),
    "vcpu": ("cpu", "cpus"),
    "shared_memory_gib": ("shm", "shm_size", "dshm"),
    "script": ("entry_script", "entrypoint"),
    "script_args": ("args", "arguments"),
    "environment": ("env", "env_vars"),
    "persistent_volume_claims": ("volumes", "volume_mounts", "pvc", "mounts"),
    "team": ("queue", "queue_name"),
    "priority_class": ("priority",),
    "auto_resume": ("max_retries", "max_retry", "retries", "restart_policy", "backoff_limit"),
    "capacity_type": ("spot",),
    "active_deadline_seconds": ("timeout",),
}
_NOWHERE: Final = ("annotations", "ports")

NAMES_ELSEWHERE: Final[Mapping[str, str | None]] = MappingProxyType(
    {name: field for field, names in _NAMES.items() for name in names} | dict.fromkeys(_NOWHERE)
)
"""Words of Kubernetes, torchrun, Slurm and the HyperPod command line, and the field of a job that says it."""
