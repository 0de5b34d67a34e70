"""Reads log groups, their metric filters and the policies of logs back."""

from __future__ import annotations

from typing import Any

from read_back import Clients, reads
from read_back.parts import copied, tags


@reads("AWS::Logs::LogGroup")
def log_group(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a log group."""
    logs = clients.client("logs")
    pages = logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=physical_id)
    (found,) = (
        group for page in pages for group in page["logGroups"] if group["logGroupName"] == physical_id
    )
    told = copied(found, "LogGroupName", "RetentionInDays", "KmsKeyId", capital=True)
    found_tags = logs.list_tags_for_resource(resourceArn=found["arn"].removesuffix(":*"))["tags"]
    return told | tags(found_tags.items(), wanted)


@reads("AWS::Logs::MetricFilter")
def metric_filter(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a metric filter."""
    found = clients.client("logs").describe_metric_filters(
        logGroupName=wanted["LogGroupName"], filterNamePrefix=physical_id
    )
    (one,) = (filter for filter in found["metricFilters"] if filter["filterName"] == physical_id)
    told = copied(one, "FilterName", "FilterPattern", "LogGroupName", capital=True)
    names = ("MetricName", "MetricNamespace", "MetricValue", "Unit", "DefaultValue", "Dimensions")
    return told | {
        "MetricTransformations": [
            copied(metric, *names, capital=True) for metric in one["metricTransformations"]
        ]
    }


@reads("AWS::Logs::ResourcePolicy")
def resource_policy(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a policy of the region's log groups."""
    pages = clients.client("logs").get_paginator("describe_resource_policies").paginate()
    (found,) = (one for page in pages for one in page["resourcePolicies"] if one["policyName"] == physical_id)
    return {"PolicyName": found["policyName"], "PolicyDocument": found["policyDocument"]}
