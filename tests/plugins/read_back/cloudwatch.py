"""Reads alarms, dashboards and rules of Contributor Insights back."""

from __future__ import annotations

from typing import Any

from read_back import Clients, reads


@reads("AWS::CloudWatch::Alarm")
def alarm(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read an alarm."""
    (found,) = clients.client("cloudwatch").describe_alarms(AlarmNames=[physical_id])["MetricAlarms"]
    told = {key: value for key, value in found.items() if not key.startswith(("State", "AlarmArn"))}
    if not told.get("Metrics"):
        told.pop("Metrics", None)
    return told


@reads("AWS::CloudWatch::InsightRule")
def insight_rule(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a rule of Contributor Insights."""
    rules = clients.client("cloudwatch").describe_insight_rules()["InsightRules"]
    (found,) = (one for one in rules if one["Name"] == physical_id)
    return {"RuleName": found["Name"], "RuleState": found["State"], "RuleBody": found["Definition"]}


@reads("AWS::CloudWatch::Dashboard")
def dashboard(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a dashboard."""
    found = clients.client("cloudwatch").get_dashboard(DashboardName=physical_id)
    return {"DashboardName": found["DashboardName"], "DashboardBody": found["DashboardBody"]}
