"""AWS CDK constructs for SageMaker HyperPod.

Names are loaded when first used, so importing one construct does not pay for the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperpod_constructs.access_log_bucket import AccessLogBucket
    from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
    from hyperpod_constructs.cluster_network import ClusterNetwork
    from hyperpod_constructs.efa_security_group import EfaSecurityGroup
    from hyperpod_constructs.execution_role import ExecutionRole
    from hyperpod_constructs.hyperpod_checks import HyperPodChecks
    from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
    from hyperpod_constructs.hyperpod_stack import HyperPodStack
    from hyperpod_constructs.instance_group import InstanceGroup
    from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
    from hyperpod_constructs.lustre_file_system import FileSystemRemoval, LustreFileSystem
    from hyperpod_constructs.orchestrator import Orchestrator
    from hyperpod_constructs.resilience_policy import ResiliencePolicy
    from hyperpod_constructs.slurm_configuration import SlurmConfiguration
    from hyperpod_constructs.slurm_node_type import SlurmNodeType

_MODULES = {
    "AccessLogBucket": "access_log_bucket",
    "CheckpointBucket": "checkpoint_bucket",
    "ClusterNetwork": "cluster_network",
    "EfaSecurityGroup": "efa_security_group",
    "ExecutionRole": "execution_role",
    "FileSystemRemoval": "lustre_file_system",
    "HyperPodChecks": "hyperpod_checks",
    "HyperPodCluster": "hyperpod_cluster",
    "HyperPodStack": "hyperpod_stack",
    "InstanceGroup": "instance_group",
    "LifecycleScripts": "lifecycle_scripts",
    "LustreFileSystem": "lustre_file_system",
    "Orchestrator": "orchestrator",
    "ResiliencePolicy": "resilience_policy",
    "SlurmConfiguration": "slurm_configuration",
    "SlurmNodeType": "slurm_node_type",
}

__all__ = [
    "AccessLogBucket",
    "CheckpointBucket",
    "ClusterNetwork",
    "EfaSecurityGroup",
    "ExecutionRole",
    "FileSystemRemoval",
    "HyperPodChecks",
    "HyperPodCluster",
    "HyperPodStack",
    "InstanceGroup",
    "LifecycleScripts",
    "LustreFileSystem",
    "Orchestrator",
    "ResiliencePolicy",
    "SlurmConfiguration",
    "SlurmNodeType",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
