"""Log groups, their metric filters, and who may write to them."""

from __future__ import annotations

from aws_double import ACCOUNT
from aws_double.naming import physical_name
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.session import Session

_LONGEST_NAME = 512


@resource_type(
    "AWS::Logs::LogGroup",
    properties="LogGroupName RetentionInDays KmsKeyId Tags",
    updatable="RetentionInDays KmsKeyId Tags",
)
class LogGroup(ResourceType):
    """A log group with its retention and key."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        name = wanted.get("LogGroupName", physical_name(resource, limit=_LONGEST_NAME))
        request = {"logGroupName": name}
        if "KmsKeyId" in wanted:
            request["kmsKeyId"] = wanted["KmsKeyId"]
        if "Tags" in wanted:
            request["tags"] = wanted["Tags"]
        session.call("logs", "create_log_group", **request)
        resource.physical_id = name
        resource.attributes = {"Arn": f"{_arn(session, name)}:*"}
        if "RetentionInDays" in wanted:
            _retain(session, name, wanted["RetentionInDays"])

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        name, old, new = after.physical_id, before.properties, after.properties
        if old.get("KmsKeyId") != new.get("KmsKeyId"):
            raise ResourceFailure("KmsKeyId has no update in this double")
        if old.get("RetentionInDays") != new.get("RetentionInDays"):
            _retain(session, name, new.get("RetentionInDays"))
        if old.get("Tags") != new.get("Tags"):
            gone = {tag["Key"] for tag in old.get("Tags", [])} - {tag["Key"] for tag in new.get("Tags", [])}
            if gone:
                session.call("logs", "untag_resource", resourceArn=_arn(session, name), tagKeys=sorted(gone))
            if "Tags" in new:
                session.call("logs", "tag_resource", resourceArn=_arn(session, name), tags=new["Tags"])

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("logs", "delete_log_group", logGroupName=resource.physical_id)


@resource_type(
    "AWS::Logs::MetricFilter",
    properties="FilterName FilterPattern LogGroupName MetricTransformations",
    updatable="FilterPattern MetricTransformations",
)
class MetricFilter(ResourceType):
    """Counts lines of a log group that exists."""

    def create(self, resource: Resource, session: Session) -> None:
        resource.physical_id = resource.properties.get(
            "FilterName", physical_name(resource, limit=_LONGEST_NAME)
        )
        self._put(resource, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        self._put(after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call(
            "logs",
            "delete_metric_filter",
            logGroupName=resource.properties["LogGroupName"],
            filterName=resource.physical_id,
        )

    def _put(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        session.call(
            "logs",
            "put_metric_filter",
            filterName=resource.physical_id,
            logGroupName=wanted["LogGroupName"],
            filterPattern=wanted["FilterPattern"],
            metricTransformations=wanted["MetricTransformations"],
        )


@resource_type(
    "AWS::Logs::ResourcePolicy", properties="PolicyName PolicyDocument", updatable="PolicyDocument"
)
class ResourcePolicy(ResourceType):
    """A policy of the region's log groups; CloudWatch Logs takes its text as it is."""

    def create(self, resource: Resource, session: Session) -> None:
        resource.physical_id = resource.properties["PolicyName"]
        self._put(resource, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        self._put(after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("logs", "delete_resource_policy", policyName=resource.physical_id)

    def _put(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        session.call(
            "logs",
            "put_resource_policy",
            policyName=wanted["PolicyName"],
            policyDocument=wanted["PolicyDocument"],
        )


def _arn(session: Session, name: str) -> str:
    return f"arn:aws:logs:{session.region}:{ACCOUNT}:log-group:{name}"


def _retain(session: Session, name: str, days: int | None) -> None:
    if days is None:
        session.call("logs", "delete_retention_policy", logGroupName=name)
    else:
        session.call("logs", "put_retention_policy", logGroupName=name, retentionInDays=days)
