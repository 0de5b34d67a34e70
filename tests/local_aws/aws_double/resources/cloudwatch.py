"""CloudWatch alarms, dashboards and rules of Contributor Insights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double import ACCOUNT
from aws_double.naming import physical_name
from aws_double.property_changes import tag_changes
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.session import Session

_LONGEST_NAME = 255
_ALARM = (
    "ActionsEnabled AlarmActions AlarmDescription ComparisonOperator DatapointsToAlarm Dimensions "
    "EvaluationPeriods ExtendedStatistic InsufficientDataActions MetricName Metrics Namespace OKActions "
    "Period Statistic Tags Threshold TreatMissingData Unit"
)


@resource_type("AWS::CloudWatch::Alarm", properties=f"AlarmName {_ALARM}", updatable=_ALARM)
class Alarm(ResourceType):
    """An alarm on a metric or an expression. Its name is the account's in the region."""

    def create(self, resource: Resource, session: Session) -> None:
        name = resource.properties.get("AlarmName", physical_name(resource, limit=_LONGEST_NAME))
        if session.call("cloudwatch", "describe_alarms", AlarmNames=[name])["MetricAlarms"]:
            # CloudWatch itself would change the other one.
            raise ResourceFailure(f"{name} already exists")
        session.call("cloudwatch", "put_metric_alarm", **{**resource.properties, "AlarmName": name})
        resource.physical_id = name
        resource.attributes = {"Arn": f"arn:aws:cloudwatch:{session.region}:{ACCOUNT}:alarm:{name}"}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        session.call("cloudwatch", "put_metric_alarm", **{**after.properties, "AlarmName": after.physical_id})
        _change_tags(before.properties, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("cloudwatch", "delete_alarms", AlarmNames=[resource.physical_id])


@resource_type(
    "AWS::CloudWatch::InsightRule",
    properties="RuleName RuleBody RuleState Tags",
    updatable="RuleBody RuleState Tags",
)
class InsightRule(ResourceType):
    """A rule of Contributor Insights, which ranks what the lines of log groups name."""

    def create(self, resource: Resource, session: Session) -> None:
        name = resource.properties["RuleName"]
        rules = session.call("cloudwatch", "describe_insight_rules")["InsightRules"]
        if any(rule["Name"] == name for rule in rules):
            raise ResourceFailure(f"{name} already exists")
        self._put(resource, session)
        arn = f"arn:aws:cloudwatch:{session.region}:{ACCOUNT}:insight-rule/{name}"
        resource.physical_id = name
        resource.attributes = {"Arn": arn, "RuleName": name}
        _change_tags({}, resource, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        self._put(after, session)
        _change_tags(before.properties, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("cloudwatch", "delete_insight_rules", RuleNames=[resource.physical_id])

    def _put(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        session.call(
            "cloudwatch",
            "put_insight_rule",
            RuleName=wanted["RuleName"],
            RuleState=wanted["RuleState"],
            RuleDefinition=wanted["RuleBody"],
        )


def _change_tags(before: Mapping[str, Any], after: Resource, session: Session) -> None:
    tags, gone = tag_changes(before, after.properties)
    arn = after.attributes["Arn"]
    if tags:
        session.call("cloudwatch", "tag_resource", ResourceARN=arn, Tags=tags)
    if gone:
        session.call("cloudwatch", "untag_resource", ResourceARN=arn, TagKeys=gone)


@resource_type(
    "AWS::CloudWatch::Dashboard",
    properties="DashboardName DashboardBody Tags",
    updatable="DashboardBody Tags",
)
class Dashboard(ResourceType):
    """A dashboard. Its name is the account's."""

    def create(self, resource: Resource, session: Session) -> None:
        name = resource.properties.get("DashboardName", physical_name(resource, limit=_LONGEST_NAME))
        found = session.call("cloudwatch", "list_dashboards", DashboardNamePrefix=name)["DashboardEntries"]
        if any(one["DashboardName"] == name for one in found):
            raise ResourceFailure(f"{name} already exists")
        resource.physical_id = name
        resource.attributes = {"Arn": f"arn:aws:cloudwatch::{ACCOUNT}:dashboard/{name}"}
        self._put(resource, session)
        _change_tags({}, resource, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        self._put(after, session)
        _change_tags(before.properties, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("cloudwatch", "delete_dashboards", DashboardNames=[resource.physical_id])

    def _put(self, resource: Resource, session: Session) -> None:
        body = resource.properties["DashboardBody"]
        session.call("cloudwatch", "put_dashboard", DashboardName=resource.physical_id, DashboardBody=body)
