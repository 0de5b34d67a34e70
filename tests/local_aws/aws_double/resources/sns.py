"""SNS topics, their policies and subscriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_double.naming import physical_name
from aws_double.property_changes import tag_changes
from aws_double.resource import Resource, ResourceType, resource_type
from aws_double.session import Session

_LONGEST_NAME = 256
_SETTINGS = ("DisplayName", "KmsMasterKeyId")


@resource_type(
    "AWS::SNS::Topic",
    properties="TopicName DisplayName KmsMasterKeyId Tags",
    updatable="DisplayName KmsMasterKeyId Tags",
)
class Topic(ResourceType):
    """A topic with its key."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        name = wanted.get("TopicName", physical_name(resource, limit=_LONGEST_NAME))
        attributes = {key: wanted[key] for key in _SETTINGS if key in wanted}
        arn = session.call(
            "sns", "create_topic", Name=name, Attributes=attributes, Tags=wanted.get("Tags", [])
        )
        resource.physical_id = arn["TopicArn"]
        resource.attributes = {"TopicArn": resource.physical_id, "TopicName": name}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        arn, old, new = after.physical_id, before.properties, after.properties
        for key in _SETTINGS:
            if old.get(key) != new.get(key):
                _set(session, arn, key, new.get(key, ""))
        tags, gone = tag_changes(old, new)
        if tags:
            session.call("sns", "tag_resource", ResourceArn=arn, Tags=tags)
        if gone:
            session.call("sns", "untag_resource", ResourceArn=arn, TagKeys=gone)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("sns", "delete_topic", TopicArn=resource.physical_id)


@resource_type("AWS::SNS::TopicPolicy", properties="PolicyDocument Topics", updatable="*")
class TopicPolicy(ResourceType):
    """The one policy of some topics; without it they have SNS's default again."""

    def create(self, resource: Resource, session: Session) -> None:
        resource.physical_id = physical_name(resource, limit=_LONGEST_NAME)
        resource.attributes = {"Id": resource.physical_id}
        self._put(resource.properties, session)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        self._put(after.properties, session)
        _reset(set(before.properties["Topics"]) - set(after.properties["Topics"]), session)

    def delete(self, resource: Resource, session: Session) -> None:
        _reset(resource.properties["Topics"], session)

    def _put(self, wanted: Mapping[str, Any], session: Session) -> None:
        for arn in wanted["Topics"]:
            _set(session, arn, "Policy", wanted["PolicyDocument"])


@resource_type("AWS::SNS::Subscription", properties="Endpoint Protocol RawMessageDelivery TopicArn")
class Subscription(ResourceType):
    """A subscription. Nobody confirms that of an address: no mail is sent."""

    def create(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        raw = wanted.get("RawMessageDelivery")
        made = session.call(
            "sns",
            "subscribe",
            TopicArn=wanted["TopicArn"],
            Protocol=wanted["Protocol"],
            Endpoint=wanted["Endpoint"],
            Attributes={} if raw is None else {"RawMessageDelivery": str(raw).lower()},
            ReturnSubscriptionArn=True,
        )
        resource.physical_id = made["SubscriptionArn"]
        resource.attributes = {"Arn": resource.physical_id}

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("sns", "unsubscribe", SubscriptionArn=resource.physical_id)


def _set(session: Session, arn: str, name: str, value: Any) -> None:
    session.call("sns", "set_topic_attributes", TopicArn=arn, AttributeName=name, AttributeValue=value)


def _reset(arns: Any, session: Session) -> None:
    for arn in arns:
        account = arn.split(":")[4]
        statement = {
            "Sid": "__default_statement_ID",
            "Effect": "Allow",
            "Principal": {"AWS": "*"},
            "Action": ["SNS:Publish", "SNS:Subscribe", "SNS:GetTopicAttributes"],
            "Resource": arn,
            "Condition": {"StringEquals": {"AWS:SourceOwner": account}},
        }
        policy = {"Version": "2008-10-17", "Id": "__default_policy_ID", "Statement": [statement]}
        _set(session, arn, "Policy", policy)
