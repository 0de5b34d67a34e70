"""Jobs as users say them: the specification, its YAML files, and what follows from it."""

from __future__ import annotations

from hyperpod_model.job_spec.auto_resume import AutoResumeSpec
from hyperpod_model.job_spec.checkpoint import CheckpointSpec
from hyperpod_model.job_spec.checkpointless import CheckpointlessTrainingSpec
from hyperpod_model.job_spec.elastic import ElasticSpec
from hyperpod_model.job_spec.job import JobSpec
from hyperpod_model.job_spec.launch import Launch
from hyperpod_model.job_spec.loading import LoadedJob, load_job, parse_job, read_job
from hyperpod_model.job_spec.log_monitoring import LogMonitoringSpec
from hyperpod_model.job_spec.on_cluster import check_job_on_cluster, node_setup_on
from hyperpod_model.job_spec.persistent_volume_claim import PersistentVolumeClaimSpec
from hyperpod_model.job_spec.placement import Placement
from hyperpod_model.job_spec.tiered_checkpointing import TieredCheckpointsSpec
from hyperpod_model.job_spec.toleration import TolerationSpec
from hyperpod_model.job_spec.topology import TopologySpec
from hyperpod_model.pod_resources import NodeSetup, PodResources

__all__ = [
    "AutoResumeSpec",
    "CheckpointSpec",
    "CheckpointlessTrainingSpec",
    "ElasticSpec",
    "JobSpec",
    "Launch",
    "LoadedJob",
    "LogMonitoringSpec",
    "NodeSetup",
    "PersistentVolumeClaimSpec",
    "Placement",
    "PodResources",
    "TieredCheckpointsSpec",
    "TolerationSpec",
    "TopologySpec",
    "check_job_on_cluster",
    "load_job",
    "node_setup_on",
    "parse_job",
    "read_job",
]
