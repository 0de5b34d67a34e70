"""SNS topics, and whether what a service publishes to them reaches somebody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hyperpod_model.catalog.notifications import (
    ADMITTED_BY_DEFAULT_POLICY,
    KEY_ACTIONS,
    MANAGED_KEY,
    PUBLISH_ACTION,
    SOURCE_CONDITIONS,
    WITHOUT_SOURCE_CONDITIONS,
)
from hyperpod_policy.admission import Obstacle, allowed_to
from hyperpod_policy.iam.conditions import ABSENT
from hyperpod_policy.iam.evaluation import Request, refused
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.keys import KEY_POLICY, key_named
from hyperpod_policy.readers import reader_obstacles, subscriptions_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Pseudo, Reference, Text, concatenated, elements

TOPIC: Final = "AWS::SNS::Topic"

_KEY: Final = "KmsMasterKeyId"
TOPIC_POLICIES: Final = ("AWS::SNS::TopicPolicy", "AWS::SNS::TopicInlinePolicy")
TOPIC_DOCUMENT: Final = "PolicyDocument"
_IN_VAIN: Final = "on a condition that AWS says it never meets"


def topic_named(template: Template, value: Any) -> Resource | None:
    """Return the topic of the template that a value means, by reference or by an ARN with its name."""
    found = template.resource(value, TOPIC)
    if found is not None:
        return found
    last = value.parts[-1] if isinstance(value, Text) else value
    name = last.rpartition(":")[2] if isinstance(last, str) and ":" in last else None
    if not name:
        return None
    return next((topic for topic in template.of_type(TOPIC) if topic.get("TopicName") == name), None)


def obstacles(
    template: Template, topic: Resource, service: str, *, source: Sequence[Any] = ()
) -> list[Obstacle]:
    """Return what keeps messages of a service from reaching somebody through a topic.

    Args:
        template: Template under review.
        topic: A topic of the template.
        service: Service principal that publishes, such as ``events.amazonaws.com``.
        source: ARN on whose behalf it publishes, in each way that it can be written. By default whatever a
            policy asks for.
    """
    context = _context(topic, source)
    return [
        *_policy(template, topic, service, context),
        *_encryption(template, topic, service, context),
        *_subscriptions(template, topic, service),
    ]


def source_of(resource: Resource) -> list[Any]:
    """Return the ARN of what publishes, in each way that it can be written.

    Args:
        resource: An alarm, a rule of the default event bus, a topic, or a workspace of Prometheus.
    """
    kind, separator, name, attribute = _ARN_PARTS[resource.type]
    region, account = resource.document.region, resource.document.account
    written = concatenated(
        (
            "arn:",
            Pseudo("AWS::Partition"),
            f":{kind}:",
            Pseudo("AWS::Region") if region is None else region,
            ":",
            Pseudo("AWS::AccountId") if account is None else account,
            separator,
            resource.get(name, default=Reference(resource.key, attribute)),
        )
    )
    return [Reference(resource.key, "Arn"), written]


_ARN_PARTS: Final = {
    "AWS::APS::Workspace": ("aps", ":workspace/", "WorkspaceId", "WorkspaceId"),
    "AWS::CloudWatch::Alarm": ("cloudwatch", ":alarm:", "AlarmName", "Ref"),
    "AWS::CloudWatch::CompositeAlarm": ("cloudwatch", ":alarm:", "AlarmName", "Ref"),
    "AWS::Events::Rule": ("events", ":rule/", "Name", "Ref"),
    "AWS::SNS::Topic": ("sns", ":", "TopicName", "TopicName"),
}
"""By type: service, what stands before the name, the property with it, and the attribute in its place."""


def _context(topic: Resource, source: Sequence[Any]) -> dict[str, Any]:
    known = topic.document.account
    account = Pseudo("AWS::AccountId") if known is None else known
    found: dict[str, Any] = {
        "aws:sourceaccount": account,
        "aws:sourceowner": account,
        "aws:securetransport": "true",
    }
    return {**found, "aws:sourcearn": list(source)} if source else found


def _policy(
    template: Template, topic: Resource, service: str, context: Mapping[str, Any]
) -> Iterator[Obstacle]:
    holders = [
        policy
        for policy in template.of_type(*TOPIC_POLICIES)
        if any(
            topic_named(template, value) is topic
            for member in ("Topics", "TopicArn")
            for value in elements(policy.get(member))[0]
        )
    ]
    if not holders:
        if service not in ADMITTED_BY_DEFAULT_POLICY:
            yield Obstacle(topic, (), f"has no topic policy, so {service} may not publish")
        return
    found = [statement for holder in holders for statement in statements_of(holder, TOPIC_DOCUMENT)]
    statements = [statement for statement in found if isinstance(statement, Statement)]
    unclear = len(statements) < len(found)
    allowed = allowed_to(statements, service, PUBLISH_ACTION, context)
    if allowed is not True:
        yield Obstacle(
            holders[0],
            (TOPIC_DOCUMENT,),
            f"does not let {service} {PUBLISH_ACTION} to {topic.logical_id}",
            certain=allowed is False and not unclear,
        )
    elif _asks_in_vain(statements, service, PUBLISH_ACTION, context):
        words = f"lets {service} {PUBLISH_ACTION} to {topic.logical_id} {_IN_VAIN}"
        yield Obstacle(holders[0], (TOPIC_DOCUMENT,), words, certain=False)
    elif refused(statements, Request(PUBLISH_ACTION, topic.ref, context=context)):
        yield Obstacle(
            holders[0],
            (TOPIC_DOCUMENT,),
            f"denies {PUBLISH_ACTION} to {topic.logical_id} to {service} as well",
        )


def _encryption(
    template: Template, topic: Resource, service: str, context: Mapping[str, Any]
) -> Iterator[Obstacle]:
    value = topic.get(_KEY)
    if value is None:
        return
    if isinstance(value, str) and value.endswith(MANAGED_KEY):
        yield Obstacle(
            topic, (_KEY,), f"is {MANAGED_KEY}, with which {service} cannot publish and whose policy is AWS's"
        )
        return
    key = key_named(template, value)
    if key is None:
        words = f"is {value}, which is not in this template, and may not admit {service}"
        yield Obstacle(topic, (_KEY,), words, certain=False)
        return
    found = [*statements_of(key, KEY_POLICY)]
    statements = [statement for statement in found if isinstance(statement, Statement)]
    answers = {action: allowed_to(statements, service, action, context) for action in KEY_ACTIONS}
    missing = [action for action, answer in answers.items() if answer is not True]
    if missing:
        certain = len(statements) == len(found) and any(answers[action] is False for action in missing)
        words = f"does not let {service} {' and '.join(missing)}, so nothing reaches topic {topic.logical_id}"
        yield Obstacle(key, (KEY_POLICY,), words, certain=certain)
    elif any(_asks_in_vain(statements, service, action, context) for action in KEY_ACTIONS):
        words = f"lets {service} use it for topic {topic.logical_id} {_IN_VAIN}"
        yield Obstacle(key, (KEY_POLICY,), words, certain=False)


def _subscriptions(template: Template, topic: Resource, service: str) -> Iterator[Obstacle]:
    inline, complete = elements(topic.get("Subscription"))
    own = [
        subscription
        for subscription in subscriptions_of(template)
        if topic_named(template, subscription.get("TopicArn")) is topic
    ]
    if inline or own:
        yield from reader_obstacles(template, topic, own, service, [topic.ref, *source_of(topic)])
    else:
        yield Obstacle(topic, (), "has no subscription, so nobody reads it", certain=complete)


def _asks_in_vain(
    statements: Sequence[Statement], service: str, action: str, context: Mapping[str, Any]
) -> bool:
    """Whether a service is let in only by conditions on what it does not tell."""
    if service not in WITHOUT_SOURCE_CONDITIONS:
        return False
    untold = {key.lower(): ABSENT for key in SOURCE_CONDITIONS}
    return allowed_to(statements, service, action, {**context, **untold}) is False
