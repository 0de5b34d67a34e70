"""CloudWatch log groups, streams and line formats of HyperPod nodes."""

from __future__ import annotations

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact

_TABLE = table("logs")

LOG_GROUP_PREFIX: str = _TABLE["group_prefix"]

FLOW_LOG_SERVICE: str = _TABLE["flow_logs"]["service"]
"""Trusted by the role with which a VPC writes its flow logs."""

FLOW_LOG_ACTIONS: tuple[str, ...] = tuple(_TABLE["flow_logs"]["actions"])
"""What that role needs on a log group that exists; without them flow logs never arrive and nobody is told."""

FLOW_LOG_BUCKET_SERVICE: str = _TABLE["flow_logs"]["bucket_service"]
"""Writes flow logs to a bucket, and must be allowed to use the bucket's own KMS key."""

LOG_GROUP_KEY_SERVICE: str = _TABLE["log_group_key_service"]
"""How the service principal begins that uses the KMS key of a log group; the region follows."""

METRIC_NAMESPACE: str = _TABLE["metric_namespace"]
"""The only namespace into which the managed policy of the nodes may put metrics."""

HEALTH_EVENT_FILTER: str = _TABLE["health_event_filter"]
"""CloudWatch Logs filter pattern for a detection of the health monitoring agent."""

DEEP_HEALTH_FAILURE_FILTER: str = _TABLE["deep_health_failure_filter"]
"""CloudWatch Logs filter pattern for a node that failed its deep health checks."""

RETENTION_DAYS: tuple[int, ...] = tuple(_TABLE["retention_days"])
"""Days for which CloudWatch Logs can keep a log group. Source: API reference, PutRetentionPolicy."""

HEALTH_EVENT_DETAILS_KEY: str = _TABLE["health_event_details_key"]
"""Key of the details in a detection, with its colon and blank: ``$.details.reason`` never matches."""

PARSED_LINE_KEY: Fact[str] = fact(
    "key under which Container Insights puts what a container printed as JSON",
    _TABLE["containers"]["parsed_line_key"],
    _TABLE["containers"],
)


def container_log_group_name(eks_cluster: str) -> str:
    """Name of the log group of what containers print; Container Insights creates it.

    Args:
        eks_cluster: Name of the EKS cluster.
    """
    template: str = _TABLE["containers"]["group"]
    return template.format(eks_cluster=eks_cluster)


def log_group_name(cluster_name: str, cluster_id: str) -> str:
    """Name of a cluster's log group; the nodes create it.

    Args:
        cluster_name: The cluster's name.
        cluster_id: The 12 characters at the end of its ARN.
    """
    return f"{LOG_GROUP_PREFIX}{cluster_name}/{cluster_id}"


def lifecycle_stream_name(group: str, instance_id: str) -> str:
    """Stream with the output of the lifecycle scripts of one node."""
    return _stream("lifecycle", group=group, instance_id=instance_id)


def health_monitoring_stream_name(group: str, instance_id: str) -> str:
    """Stream of the health monitoring agent of one node; it exists only after a detection."""
    return _stream("health_monitoring", group=group, instance_id=instance_id)


def deep_health_check_stream_name(log_stream_id: str) -> str:
    """Stream with the results of a deep health check."""
    return _stream("deep_health_check", log_stream_id=log_stream_id)


def _stream(kind: str, **parts: str) -> str:
    template: str = _TABLE["streams"][kind]
    return template.format(**parts)
