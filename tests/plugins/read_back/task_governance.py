"""Reads priority classes and quotas of teams back."""

from __future__ import annotations

from typing import Any

from read_back import Clients, reads
from read_back.narrowing import as_asked

_OF_THE_SERVICE = ("Status", "CreationTime", "LastModifiedTime", "ResponseMetadata")


@reads("AWS::SageMaker::ClusterSchedulerConfig")
def scheduler_config(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read the priority classes of a cluster."""
    id = physical_id.rpartition("/")[2]
    found = clients.client("sagemaker").describe_cluster_scheduler_config(ClusterSchedulerConfigId=id)
    return _told(found, wanted)


@reads("AWS::SageMaker::ComputeQuota")
def compute_quota(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read the quota of a team."""
    id = physical_id.rpartition("/")[2]
    return _told(clients.client("sagemaker").describe_compute_quota(ComputeQuotaId=id), wanted)


def _told(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    told = {key: value for key, value in found.items() if key not in _OF_THE_SERVICE}
    return {key: as_asked(value, wanted.get(key, value)) for key, value in told.items()}
