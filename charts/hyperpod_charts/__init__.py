"""Training jobs and what they need in Kubernetes, as cdk8s constructs, and jobs as batch files for Slurm.

Names are loaded when first used: importing the package does not start the process that cdk8s runs in.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperpod_charts.elastic_range import ElasticRange
    from hyperpod_charts.hyperpod_pytorch_job import HyperPodPyTorchJob
    from hyperpod_charts.job_chart import JobChart
    from hyperpod_charts.job_members import member_labels
    from hyperpod_charts.log_monitoring_rule import LogMonitoringRule
    from hyperpod_charts.lustre_volume import DynamicLustreVolume, LustreVolume
    from hyperpod_charts.namespace import Namespace
    from hyperpod_charts.persistent_volume import PersistentVolume
    from hyperpod_charts.persistent_volume_claim import PersistentVolumeClaim
    from hyperpod_charts.platform_chart import LustreFileSystemReference, PlatformChart
    from hyperpod_charts.pod_disruption_budget import PodDisruptionBudget
    from hyperpod_charts.pod_volumes import ClaimVolume, NodeFolderVolume, SharedMemoryVolume
    from hyperpod_charts.pytorch_job import PyTorchJob
    from hyperpod_charts.rendering import render
    from hyperpod_charts.service_account import ServiceAccount
    from hyperpod_charts.slurm_batch import SlurmBatch, render_slurm_batch
    from hyperpod_charts.storage_class import StorageClass
    from hyperpod_charts.task_governance import queue_labels, team_namespace
    from hyperpod_charts.toleration import Toleration
    from hyperpod_charts.training_network_policy import TrainingNetworkPolicy
    from hyperpod_charts.training_pod import TrainingPod

_MODULES = {
    "ClaimVolume": "pod_volumes",
    "DynamicLustreVolume": "lustre_volume",
    "ElasticRange": "elastic_range",
    "HyperPodPyTorchJob": "hyperpod_pytorch_job",
    "JobChart": "job_chart",
    "LogMonitoringRule": "log_monitoring_rule",
    "LustreFileSystemReference": "platform_chart",
    "LustreVolume": "lustre_volume",
    "Namespace": "namespace",
    "NodeFolderVolume": "pod_volumes",
    "PersistentVolume": "persistent_volume",
    "PersistentVolumeClaim": "persistent_volume_claim",
    "PlatformChart": "platform_chart",
    "PodDisruptionBudget": "pod_disruption_budget",
    "PyTorchJob": "pytorch_job",
    "ServiceAccount": "service_account",
    "SharedMemoryVolume": "pod_volumes",
    "SlurmBatch": "slurm_batch",
    "StorageClass": "storage_class",
    "Toleration": "toleration",
    "TrainingNetworkPolicy": "training_network_policy",
    "TrainingPod": "training_pod",
    "member_labels": "job_members",
    "queue_labels": "task_governance",
    "render": "rendering",
    "render_slurm_batch": "slurm_batch",
    "team_namespace": "task_governance",
}

__all__ = [
    "ClaimVolume",
    "DynamicLustreVolume",
    "ElasticRange",
    "HyperPodPyTorchJob",
    "JobChart",
    "LogMonitoringRule",
    "LustreFileSystemReference",
    "LustreVolume",
    "Namespace",
    "NodeFolderVolume",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PlatformChart",
    "PodDisruptionBudget",
    "PyTorchJob",
    "ServiceAccount",
    "SharedMemoryVolume",
    "SlurmBatch",
    "StorageClass",
    "Toleration",
    "TrainingNetworkPolicy",
    "TrainingPod",
    "member_labels",
    "queue_labels",
    "render",
    "render_slurm_batch",
    "team_namespace",
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
