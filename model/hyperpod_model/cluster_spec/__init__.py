"""Clusters as users say them: the specification, its YAML files, and ``CreateCluster`` requests."""

from __future__ import annotations

from hyperpod_model.cluster_spec.accounting_database import AccountingDatabaseSpec
from hyperpod_model.cluster_spec.auto_scaling import AutoScalingSpec
from hyperpod_model.cluster_spec.budget import BudgetSpec
from hyperpod_model.cluster_spec.checkpoint_bucket import CheckpointBucketSpec
from hyperpod_model.cluster_spec.checkpoint_signing_key import CheckpointSigningKeySpec
from hyperpod_model.cluster_spec.checkpointless import CheckpointlessSpec
from hyperpod_model.cluster_spec.cluster import ClusterSpec
from hyperpod_model.cluster_spec.data_repository import DataRepositorySpec
from hyperpod_model.cluster_spec.dependency_chart import DependencyChartSpec
from hyperpod_model.cluster_spec.eks import EksSpec
from hyperpod_model.cluster_spec.file_system import FileSystemSpec
from hyperpod_model.cluster_spec.file_system_mounts import LustreMountSpec, OpenZfsMountSpec
from hyperpod_model.cluster_spec.instance_group import InstanceGroupSpec
from hyperpod_model.cluster_spec.kubernetes_taint import KubernetesTaintSpec
from hyperpod_model.cluster_spec.lifecycle_scripts import GroupLifecycleScriptsSpec, LifecycleScriptsSpec
from hyperpod_model.cluster_spec.loading import LoadedCluster, load_cluster
from hyperpod_model.cluster_spec.metrics import MetricsSpec
from hyperpod_model.cluster_spec.network import NetworkSpec
from hyperpod_model.cluster_spec.observability import ObservabilitySpec
from hyperpod_model.cluster_spec.resilience import ResilienceSpec
from hyperpod_model.cluster_spec.restricted_instance_group import (
    RestrictedEnvironmentSpec,
    RestrictedFileSystemSpec,
    RestrictedInstanceGroupSpec,
)
from hyperpod_model.cluster_spec.slurm import SlurmSpec
from hyperpod_model.cluster_spec.software_updates import (
    AutoPatchingSpec,
    BatchSizeSpec,
    DeploymentSpec,
    ScheduledUpdateSpec,
)
from hyperpod_model.cluster_spec.stack_name import stack_name_of
from hyperpod_model.cluster_spec.task_governance import TaskGovernanceSpec, TeamQuotaSpec
from hyperpod_model.cluster_spec.tiered_checkpointing import TieredCheckpointingSpec
from hyperpod_model.cluster_spec.training_pods import TrainingPodsSpec

__all__ = [
    "AccountingDatabaseSpec",
    "AutoPatchingSpec",
    "AutoScalingSpec",
    "BatchSizeSpec",
    "BudgetSpec",
    "CheckpointBucketSpec",
    "CheckpointSigningKeySpec",
    "CheckpointlessSpec",
    "ClusterSpec",
    "DataRepositorySpec",
    "DependencyChartSpec",
    "DeploymentSpec",
    "EksSpec",
    "FileSystemSpec",
    "GroupLifecycleScriptsSpec",
    "InstanceGroupSpec",
    "KubernetesTaintSpec",
    "LifecycleScriptsSpec",
    "LoadedCluster",
    "LustreMountSpec",
    "MetricsSpec",
    "NetworkSpec",
    "ObservabilitySpec",
    "OpenZfsMountSpec",
    "ResilienceSpec",
    "RestrictedEnvironmentSpec",
    "RestrictedFileSystemSpec",
    "RestrictedInstanceGroupSpec",
    "ScheduledUpdateSpec",
    "SlurmSpec",
    "TaskGovernanceSpec",
    "TeamQuotaSpec",
    "TieredCheckpointingSpec",
    "TrainingPodsSpec",
    "load_cluster",
    "stack_name_of",
]
