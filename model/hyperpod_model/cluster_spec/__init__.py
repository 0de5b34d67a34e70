"""Clusters as users say them: the specification, its YAML files, and ``CreateCluster`` requests."""

from __future__ import annotations

from hyperpod_model.cluster_spec.checkpoint_bucket import CheckpointBucketSpec
from hyperpod_model.cluster_spec.cluster import ClusterSpec
from hyperpod_model.cluster_spec.file_system import FileSystemSpec
from hyperpod_model.cluster_spec.instance_group import InstanceGroupSpec
from hyperpod_model.cluster_spec.lifecycle_scripts import GroupLifecycleScriptsSpec, LifecycleScriptsSpec
from hyperpod_model.cluster_spec.loading import LoadedCluster, load_cluster
from hyperpod_model.cluster_spec.network import NetworkSpec
from hyperpod_model.cluster_spec.resilience import ResilienceSpec
from hyperpod_model.cluster_spec.slurm import SlurmSpec
from hyperpod_model.cluster_spec.stack_name import stack_name_of

__all__ = [
    "CheckpointBucketSpec",
    "ClusterSpec",
    "FileSystemSpec",
    "GroupLifecycleScriptsSpec",
    "InstanceGroupSpec",
    "LifecycleScriptsSpec",
    "LoadedCluster",
    "NetworkSpec",
    "ResilienceSpec",
    "SlurmSpec",
    "load_cluster",
    "stack_name_of",
]
