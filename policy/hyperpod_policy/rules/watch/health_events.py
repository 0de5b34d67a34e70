"""Somebody hears when a node fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_model.catalog.events import NODE_HEALTH, SOURCE, UNHEALTHY
from hyperpod_model.catalog.notifications import DEFAULT_EVENT_BUS, EVENTS_SERVICE
from hyperpod_model.faults import UNKNOWN
from hyperpod_policy.clusters import clusters
from hyperpod_policy.event_patterns import accepts, event_pattern
from hyperpod_policy.readers import FUNCTION, QUEUE, refusals
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.topics import obstacles, source_of, topic_named
from hyperpod_policy.values import Reference, Unresolved, elements

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
            missed = [rule.logical_id for rule in template.of_type(_RULE) if _asks_for_other_details(rule)]
            if missed:
                found += f": no event on a failed node of it has the details that {missed[0]} asks for"
            yield failed(cluster, found=found, allowed=_ALLOWED)


def _takes_health_events(rule: Resource, cluster: Resource) -> bool | None:
    pattern = event_pattern(rule)
    if isinstance(pattern, Unresolved):
        return None
    if not isinstance(pattern, Mapping) or rule.get("State") == "DISABLED":
        return False
    answers = {
        _is_default_bus(rule.get("EventBusName")),
        accepts(pattern, "source", SOURCE),
        accepts(pattern, "detail-type", NODE_HEALTH.detail_type),
        accepts(pattern, "resources", cluster.ref),
        accepts(pattern, "detail", _details(cluster)),
        None if "$or" in pattern or isinstance(rule.get("State"), Unresolved) else True,
    }
    return False if False in answers else (None if None in answers else True)


def _asks_for_other_details(rule: Resource) -> bool:
    """Whether a rule would take health events if it were not for what it asks for below ``detail``."""
    pattern = event_pattern(rule)
    return (
        isinstance(pattern, Mapping)
        and "detail" in pattern
        and accepts(pattern, "source", SOURCE) is True
        and accepts(pattern, "detail-type", NODE_HEALTH.detail_type) is True
    )


def _details(cluster: Resource) -> dict[str, Any]:
    """Return what an event on a failed node of a cluster tells, ``UNKNOWN`` for what may be anything."""
    told: dict[str, Any] = {}
    for field in NODE_HEALTH.detail_fields:
        *above, last = field.split(".")
        inner = told
        for name in above:
            inner = inner.setdefault(name, {})
        inner[last] = UNKNOWN
    told["ClusterArn"] = cluster.ref
    told["ClusterName"] = cluster.get("ClusterName", default=UNKNOWN)
    told["HealthSummary"]["HealthStatus"] = UNHEALTHY
    return told


def _is_default_bus(bus: Any) -> bool | None:
    if bus is None:
        return True
    if isinstance(bus, str):
        return bus.rpartition("/")[2] == DEFAULT_EVENT_BUS
    return False if isinstance(bus, Reference) else None


def _judge(template: Template, rule: Resource, *, certain: bool | None) -> Iterator[Verdict]:
    targets, complete = elements(rule.get("Targets"))
    verdicts: list[Verdict] = []
    for position, target in enumerate(targets):
        arn = target.get("Arn") if isinstance(target, Mapping) else target
        topic = topic_named(template, arn)
        if topic is None:
            maker = template.resource(arn)
            ways = (
                [*refusals(template, maker, EVENTS_SERVICE, source_of(rule))]
                if maker is not None and maker.type in (FUNCTION, QUEUE)
                else []
            )
            for way in ways:
                answer = failed if way.certain else undetermined
                verdicts.append(answer(way.resource, *way.path, found=way.words, allowed=_ALLOWED))
            if ways:
                continue
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
