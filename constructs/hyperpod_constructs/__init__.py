"""AWS CDK constructs for SageMaker HyperPod.

Names are loaded when first used, so importing one construct does not pay for the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperpod_constructs.access_log_bucket import AccessLogBucket
    from hyperpod_constructs.accounting_database import AccountingDatabase
    from hyperpod_constructs.auto_scaling import AutoScaling
    from hyperpod_constructs.autoscaling_role import AutoscalingRole
    from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
    from hyperpod_constructs.checkpoint_signing_key import CheckpointSigningKey
    from hyperpod_constructs.cluster_endpoints import ClusterEndpoints
    from hyperpod_constructs.cluster_network import ClusterNetwork
    from hyperpod_constructs.cluster_observability import ClusterObservability
    from hyperpod_constructs.container_insights import ContainerInsights
    from hyperpod_constructs.data_repository_association import DataRepositoryAssociation
    from hyperpod_constructs.dependency_chart import DependencyChart
    from hyperpod_constructs.efa_security_group import EfaSecurityGroup
    from hyperpod_constructs.eks_control_plane import EksControlPlane
    from hyperpod_constructs.eks_operators import EksOperators
    from hyperpod_constructs.execution_role import ExecutionRole
    from hyperpod_constructs.hyperpod_checks import HyperPodChecks
    from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
    from hyperpod_constructs.hyperpod_observability_add_on import HyperPodObservabilityAddOn
    from hyperpod_constructs.hyperpod_stack import HyperPodStack
    from hyperpod_constructs.instance_group import InstanceGroup
    from hyperpod_constructs.job_figures import JobFigures
    from hyperpod_constructs.kubernetes_taint import KubernetesTaint
    from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
    from hyperpod_constructs.lustre_file_system import FileSystemRemoval, LustreFileSystem
    from hyperpod_constructs.lustre_mount import LustreMount
    from hyperpod_constructs.managed_grafana import ManagedGrafana
    from hyperpod_constructs.managed_prometheus import ManagedPrometheus
    from hyperpod_constructs.notice_topic import NoticeTopic
    from hyperpod_constructs.openzfs_mount import OpenZfsMount
    from hyperpod_constructs.orchestrator import Orchestrator
    from hyperpod_constructs.recovery_figures import RecoveryFigures
    from hyperpod_constructs.resilience_policy import ResiliencePolicy
    from hyperpod_constructs.restricted_instance_group import (
        RestrictedEnvironment,
        RestrictedFileSystem,
        RestrictedInstanceGroup,
    )
    from hyperpod_constructs.slurm_configuration import SlurmConfiguration
    from hyperpod_constructs.slurm_node_type import SlurmNodeType
    from hyperpod_constructs.software_updates import AutoPatching, BatchSize, Deployment, ScheduledUpdate
    from hyperpod_constructs.task_governance import TaskGovernance, TeamQuota
    from hyperpod_constructs.tiered_checkpointing import TieredCheckpointing
    from hyperpod_constructs.training_pod_role import TrainingPodRole

_MODULES = {
    "AccessLogBucket": "access_log_bucket",
    "AccountingDatabase": "accounting_database",
    "AutoPatching": "software_updates",
    "AutoScaling": "auto_scaling",
    "AutoscalingRole": "autoscaling_role",
    "BatchSize": "software_updates",
    "CheckpointBucket": "checkpoint_bucket",
    "CheckpointSigningKey": "checkpoint_signing_key",
    "ClusterEndpoints": "cluster_endpoints",
    "ClusterNetwork": "cluster_network",
    "ClusterObservability": "cluster_observability",
    "ContainerInsights": "container_insights",
    "DataRepositoryAssociation": "data_repository_association",
    "DependencyChart": "dependency_chart",
    "Deployment": "software_updates",
    "EfaSecurityGroup": "efa_security_group",
    "EksControlPlane": "eks_control_plane",
    "EksOperators": "eks_operators",
    "ExecutionRole": "execution_role",
    "FileSystemRemoval": "lustre_file_system",
    "HyperPodChecks": "hyperpod_checks",
    "HyperPodCluster": "hyperpod_cluster",
    "HyperPodObservabilityAddOn": "hyperpod_observability_add_on",
    "HyperPodStack": "hyperpod_stack",
    "InstanceGroup": "instance_group",
    "JobFigures": "job_figures",
    "KubernetesTaint": "kubernetes_taint",
    "LifecycleScripts": "lifecycle_scripts",
    "LustreFileSystem": "lustre_file_system",
    "LustreMount": "lustre_mount",
    "ManagedGrafana": "managed_grafana",
    "ManagedPrometheus": "managed_prometheus",
    "NoticeTopic": "notice_topic",
    "OpenZfsMount": "openzfs_mount",
    "Orchestrator": "orchestrator",
    "RecoveryFigures": "recovery_figures",
    "ResiliencePolicy": "resilience_policy",
    "RestrictedEnvironment": "restricted_instance_group",
    "RestrictedFileSystem": "restricted_instance_group",
    "RestrictedInstanceGroup": "restricted_instance_group",
    "ScheduledUpdate": "software_updates",
    "SlurmConfiguration": "slurm_configuration",
    "SlurmNodeType": "slurm_node_type",
    "TaskGovernance": "task_governance",
    "TeamQuota": "task_governance",
    "TieredCheckpointing": "tiered_checkpointing",
    "TrainingPodRole": "training_pod_role",
}

__all__ = [
    "AccessLogBucket",
    "AccountingDatabase",
    "AutoPatching",
    "AutoScaling",
    "AutoscalingRole",
    "BatchSize",
    "CheckpointBucket",
    "CheckpointSigningKey",
    "ClusterEndpoints",
    "ClusterNetwork",
    "ClusterObservability",
    "ContainerInsights",
    "DataRepositoryAssociation",
    "DependencyChart",
    "Deployment",
    "EfaSecurityGroup",
    "EksControlPlane",
    "EksOperators",
    "ExecutionRole",
    "FileSystemRemoval",
    "HyperPodChecks",
    "HyperPodCluster",
    "HyperPodObservabilityAddOn",
    "HyperPodStack",
    "InstanceGroup",
    "JobFigures",
    "KubernetesTaint",
    "LifecycleScripts",
    "LustreFileSystem",
    "LustreMount",
    "ManagedGrafana",
    "ManagedPrometheus",
    "NoticeTopic",
    "OpenZfsMount",
    "Orchestrator",
    "RecoveryFigures",
    "ResiliencePolicy",
    "RestrictedEnvironment",
    "RestrictedFileSystem",
    "RestrictedInstanceGroup",
    "ScheduledUpdate",
    "SlurmConfiguration",
    "SlurmNodeType",
    "TaskGovernance",
    "TeamQuota",
    "TieredCheckpointing",
    "TrainingPodRole",
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
