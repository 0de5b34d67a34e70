"""Reads alarms, dashboards and rules of Contributor Insights back."""

from __future__ import annotations

from typing import Any

from read_back import Clients, reads
from read_back.narrowing import own_tags


@reads("AWS::CloudWatch::Alarm")
def alarm(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read an alarm."""
    (found,) = clients.client("cloudwatch").describe_alarms(AlarmNames=[physical_id])["MetricAlarms"]
    told = {key: value for key, value in found.items() if not key.startswith(("State", "AlarmArn"))}
    if not told.get("Metrics"):
        told.pop("Metrics", None)
    return {**told, **_tags(clients, found["AlarmArn"], wanted)}


@reads("AWS::CloudWatch::InsightRule")
def insight_rule(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a rule of Contributor Insights."""
    rules = clients.client("cloudwatch").describe_insight_rules()["InsightRules"]
    (found,) = (one for one in rules if one["Name"] == physical_id)
    alarms = clients.client("cloudwatch")
    region, account = alarms.meta.region_name, clients.client("sts").get_caller_identity()["Account"]
    return {
        "RuleName": found["Name"],
        "RuleState": found["State"],
        "RuleBody": found["Definition"],
        **_tags(clients, f"arn:aws:cloudwatch:{region}:{account}:insight-rule/{physical_id}", wanted),
    }


@reads("AWS::CloudWatch::Dashboard")
def dashboard(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a dashboard."""
    found = clients.client("cloudwatch").get_dashboard(DashboardName=physical_id)
    return {
        "DashboardName": found["DashboardName"],
        "DashboardBody": found["DashboardBody"],
        **_tags(clients, found["DashboardArn"], wanted),
    }


def _tags(clients: Clients, arn: str, wanted: dict[str, Any]) -> dict[str, Any]:
    return own_tags(clients.client("cloudwatch").list_tags_for_resource(ResourceARN=arn)["Tags"], wanted)
