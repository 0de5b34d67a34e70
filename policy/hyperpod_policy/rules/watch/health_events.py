"""Somebody hears when a node fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_model.catalog.events import NODE_HEALTH, SOURCE
from hyperpod_model.catalog.notifications import DEFAULT_EVENT_BUS, EVENTS_SERVICE
from hyperpod_policy.clusters import clusters
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.topics import obstacles, source_of, topic_named
from hyperpod_policy.values import Reference, Text, Unresolved, elements, same
from hyperpod_policy.written_json import written_json

_RULE: Final = "AWS::Events::Rule"
_NOTIFICATIONS: Final = "AWS::Notifications::EventRule"
_PATTERN: Final = "EventPattern"
_ALLOWED: Final = (
    f"a rule for '{NODE_HEALTH.detail_type}' whose target is a topic that admits {EVENTS_SERVICE} and has a "
    "subscription"
)


def check(template: Template) -> Iterator[Verdict]:
    """Judge for each cluster whether its health events reach somebody."""
    for cluster in clusters(template):
        rules = [
            (rule, certain)
            for rule in template.of_type(_RULE)
            if (certain := _takes_health_events(rule, cluster)) is not False
        ]
        verdicts = [verdict for rule, certain in rules for verdict in _judge(template, rule, certain=certain)]
        if any(verdict.outcome == "pass" for verdict in verdicts):
            yield passed(cluster)
        elif verdicts:
            yield from verdicts
        elif any(template.of_type(_NOTIFICATIONS)):
            found = (
                "a notification rule of this template may take them; whom it tells is configured elsewhere"
            )
            yield undetermined(cluster, found=found, allowed=_ALLOWED)
        else:
            found = "no event rule of this template takes the health events of the cluster's nodes"
            yield failed(cluster, found=found, allowed=_ALLOWED)


def _takes_health_events(rule: Resource, cluster: Resource) -> bool | None:
    pattern = rule.get(_PATTERN)
    if isinstance(pattern, str | Text):
        pattern = written_json(pattern)
    if isinstance(pattern, Unresolved):
        return None
    if not isinstance(pattern, Mapping) or rule.get("State") == "DISABLED":
        return False
    answers = {
        _is_default_bus(rule.get("EventBusName")),
        _accepts(pattern, "source", SOURCE),
        _accepts(pattern, "detail-type", NODE_HEALTH.detail_type),
        _accepts(pattern, "resources", cluster.ref),
        None if "$or" in pattern or isinstance(rule.get("State"), Unresolved) else True,
    }
    return False if False in answers else (None if None in answers else True)


def _is_default_bus(bus: Any) -> bool | None:
    if bus is None:
        return True
    if isinstance(bus, str):
        return bus.rpartition("/")[2] == DEFAULT_EVENT_BUS
    return False if isinstance(bus, Reference) else None


def _accepts(pattern: Mapping[str, Any], member: str, value: Any) -> bool | None:
    """Whether a pattern accepts a value in a field of events; any value in a field that it does not name."""
    if member not in pattern:
        return True
    listed, complete = elements(pattern[member])
    answers = {_matches(item, value) for item in listed}
    if True in answers:
        return True
    return None if None in answers or not complete else False


def _matches(item: Any, value: Any) -> bool | None:
    if not isinstance(item, Mapping):
        return same(item, value)
    prefix = item.get("prefix")
    if isinstance(prefix, str) and isinstance(value, str):
        return value.startswith(prefix)
    return None


def _judge(template: Template, rule: Resource, *, certain: bool | None) -> Iterator[Verdict]:
    targets, complete = elements(rule.get("Targets"))
    verdicts: list[Verdict] = []
    for position, target in enumerate(targets):
        arn = target.get("Arn") if isinstance(target, Mapping) else target
        topic = topic_named(template, arn)
        if topic is None:
            maker = template.resource(arn)
            what = f"{arn}, which is not in this template" if maker is None else repr(maker)
            found = f"sends them to {what}; whether that tells somebody cannot be seen"
            verdicts.append(undetermined(rule, "Targets", position, "Arn", found=found, allowed=_ALLOWED))
            continue
        ways = obstacles(template, topic, EVENTS_SERVICE, source=source_of(rule))
        for way in ways:
            answer = failed if way.certain else undetermined
            verdicts.append(answer(way.resource, *way.path, found=way.words, allowed=_ALLOWED))
        if not ways and certain is None:
            found = f"whether the pattern takes '{NODE_HEALTH.detail_type}' cannot be told"
            verdicts.append(undetermined(rule, _PATTERN, found=found, allowed=_ALLOWED))
        elif not ways:
            verdicts.append(passed(rule))
    if not targets:
        answer = failed if complete and certain else undetermined
        verdicts.append(answer(rule, "Targets", found="names no target", allowed=_ALLOWED))
    yield from verdicts


RULE = Rule(
    id="HealthEvents",
    title="somebody hears when a node fails",
    severity="warning",
    why=(
        "HyperPod replaces a node by itself, but not capacity that is gone, nor a job that does not come "
        "back. EventBridge accepts a target that it may not publish to, and drops the events in silence."
    ),
    fix=(
        f"send them by an event rule for {SOURCE} to an SNS topic whose policy and key admit "
        f"{EVENTS_SERVICE}, and subscribe somebody"
    ),
    source="SageMaker developer guide, automating with EventBridge; SNS developer guide, sns-key-management",
    check=check,
)
