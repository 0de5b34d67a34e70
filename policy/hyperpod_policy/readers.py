"""Whether those who read a topic, or are a target themselves, get what is sent to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hyperpod_model.catalog.notifications import (
    FILTER_SCOPE_OF_BODIES,
    SEND_ACTION,
    TOPICS_SERVICE,
    WITHOUT_ATTRIBUTES,
)
from hyperpod_policy.admission import Obstacle, allowed_to
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Reference, Text, Unresolved, elements, same
from hyperpod_policy.written_json import written_json

FUNCTION: Final = "AWS::Lambda::Function"
QUEUE: Final = "AWS::SQS::Queue"

_SUBSCRIPTION: Final = "AWS::SNS::Subscription"
_PERMISSION: Final = "AWS::Lambda::Permission"
_QUEUE_POLICIES: Final = ("AWS::SQS::QueuePolicy", "AWS::SQS::QueueInlinePolicy")
_DOCUMENT: Final = "PolicyDocument"
_FILTER: Final = "FilterPolicy"
_ABSENCE: Final = "exists"


def reader_obstacles(
    template: Template, topic: Resource, own: Sequence[Resource], service: str, sources: Sequence[Any]
) -> list[Obstacle]:
    """Return what keeps messages of a topic from all who have subscribed; none if one of them is reached.

    Args:
        template: Template under review.
        topic: The topic.
        own: Its subscriptions that are resources of their own.
        service: Who publishes, such as ``cloudwatch.amazonaws.com``.
        sources: ARN of the topic, in each way that it can be written.
    """
    inline, complete = elements(topic.get("Subscription"))
    if not complete:
        return []
    found: list[Obstacle] = []
    endpoints = [one.get("Endpoint") if isinstance(one, Mapping) else one for one in inline]
    for endpoint in endpoints:
        ways = [*_endpoint(template, endpoint, sources)]
        if not ways:
            return []
        found += ways
    for subscription in own:
        ways = [*_filter(subscription, service), *_endpoint(template, subscription.get("Endpoint"), sources)]
        if not ways:
            return []
        found += ways
    return found


def subscriptions_of(template: Template) -> Iterator[Resource]:
    """Yield the subscriptions of a template that are resources of their own."""
    yield from template.of_type(_SUBSCRIPTION)


def refusals(
    template: Template, target: Resource, service: str, sources: Sequence[Any]
) -> Iterator[Obstacle]:
    """Yield what keeps a service from a function or queue of the template.

    Args:
        template: Template under review.
        target: A function or queue.
        service: Service principal, such as ``sns.amazonaws.com``.
        sources: ARN on whose behalf it comes, in each way that it can be written.
    """
    if target.type == FUNCTION:
        yield from _function(template, target, service)
    elif target.type == QUEUE:
        yield from _queue(template, target, service, sources)


def _endpoint(template: Template, endpoint: Any, sources: Sequence[Any]) -> Iterator[Obstacle]:
    target = template.resource(endpoint, FUNCTION, QUEUE)
    if target is not None:
        yield from refusals(template, target, TOPICS_SERVICE, sources)


def _filter(subscription: Resource, service: str) -> Iterator[Obstacle]:
    """Yield a filter on attributes of messages, which services of AWS do not give their messages."""
    policy = subscription.get(_FILTER)
    scope = subscription.get("FilterPolicyScope")
    if isinstance(policy, str | Text):
        policy = written_json(policy)
    if service not in WITHOUT_ATTRIBUTES or not policy or scope == FILTER_SCOPE_OF_BODIES:
        return
    if isinstance(policy, Unresolved):
        yield Obstacle(subscription, (_FILTER,), f"is {policy}, and may leave it out", certain=False)
        return
    asked = [name for name, values in policy.items() if not _takes_absence(values)]
    if asked:
        words = f"takes messages with attribute {asked[0]!r} alone, and {service} gives its messages none"
        certain = not isinstance(scope, Unresolved) and not asked[0].startswith("$")
        yield Obstacle(subscription, (_FILTER,), words, certain=certain)


def _takes_absence(values: Any) -> bool:
    found, complete = elements(values)
    return not complete or any(
        isinstance(one, Mapping) and (isinstance(one.get(_ABSENCE), Unresolved) or one.get(_ABSENCE) is False)
        for one in found
    )


def _function(template: Template, function: Resource, service: str) -> Iterator[Obstacle]:
    unclear = False
    for permission in template.of_type(_PERMISSION):
        named = permission.get("FunctionName")
        meant = template.resource(named, FUNCTION) is function or named == function.get(
            "FunctionName", default=0
        )
        principal = same(permission.get("Principal"), service)
        if meant and principal:
            return
        unclear = unclear or (_may_be(named, meant=meant) and principal is not False)
    words = f"has no permission for {service} to call it"
    yield Obstacle(function, (), words, certain=not unclear)


def _may_be(named: Any, *, meant: bool) -> bool:
    """Whether a permission may be for a function: it names it, or what only deployment can tell."""
    return meant or (isinstance(named, Unresolved) and not isinstance(named, Reference))


def _queue(template: Template, queue: Resource, service: str, sources: Sequence[Any]) -> Iterator[Obstacle]:
    statements: list[Statement] = []
    unclear = False
    for policy in template.of_type(*_QUEUE_POLICIES):
        named, complete = elements(policy.get("Queues", default=policy.get("Queue")))
        if any(template.resource(one, QUEUE) is queue for one in named):
            for statement in statements_of(policy, _DOCUMENT):
                if isinstance(statement, Statement):
                    statements.append(statement)
                else:
                    unclear = True
        elif not complete or any(isinstance(one, Unresolved | str) for one in named):
            unclear = unclear or not all(isinstance(one, Reference) for one in named)
    answer = allowed_to(statements, service, SEND_ACTION, {"aws:sourcearn": list(sources)})
    if answer is not True:
        words = f"has no policy that lets {service} {SEND_ACTION}"
        yield Obstacle(queue, (), words, certain=answer is False and not unclear)
