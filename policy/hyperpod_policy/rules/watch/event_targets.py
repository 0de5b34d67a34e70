"""Event rules about a cluster are on, and lead somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any, Final

from hyperpod_model.catalog.events import EVENT_TYPES, NODE_HEALTH
from hyperpod_model.catalog.notifications import EVENTS_SERVICE
from hyperpod_policy.admission import Obstacle
from hyperpod_policy.clusters import clusters
from hyperpod_policy.event_patterns import event_pattern
from hyperpod_policy.readers import FUNCTION, QUEUE, refusals
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.rules.watch import health_events
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.topics import obstacles, source_of, topic_named
from hyperpod_policy.values import Unresolved, elements

_RULE: Final = "AWS::Events::Rule"
_TYPES: Final = frozenset(event_type.detail_type for event_type in EVENT_TYPES)
_ALLOWED: Final = "a rule that is enabled and has a target that gets its events"


def check(template: Template) -> Iterator[Verdict]:
    """Judge each event rule for HyperPod of a template with a cluster."""
    if not clusters(template):
        return
    said = {(one.resource.key, one.found) for one in health_events.check(template) if one.outcome != "pass"}
    for rule in template.of_type(_RULE):
        if _is_about_hyperpod(rule):
            yield from _judge(template, rule, said)


def _is_about_hyperpod(rule: Resource) -> bool:
    return not _types(rule).isdisjoint(_TYPES)


def _types(rule: Resource) -> set[str]:
    pattern = event_pattern(rule)
    listed = pattern.get("detail-type") if isinstance(pattern, Mapping) else None
    return {item for item in elements(listed)[0] if isinstance(item, str)}


def _judge(template: Template, rule: Resource, said: Set[tuple[str, str]]) -> Iterator[Verdict]:
    state = rule.get("State", default="ENABLED")
    targets, complete = elements(rule.get("Targets"))
    if isinstance(state, Unresolved):
        yield undetermined(rule, "State", found=f"is {state}", allowed=_ALLOWED)
    elif state == "DISABLED":
        yield failed(rule, "State", found="is DISABLED, so nobody hears of its events", allowed=_ALLOWED)
    elif not targets:
        answer = failed if complete else undetermined
        yield answer(
            rule, "Targets", found="names no target, so nobody hears of its events", allowed=_ALLOWED
        )
    else:
        # What keeps health events from people is said by HealthEvents, and nothing is said twice.
        ways = [] if NODE_HEALTH.detail_type in _types(rule) else _obstacles(template, rule, targets)
        for way in ways:
            if (way.resource.key, way.words) in said:
                continue
            answer = failed if way.certain else undetermined
            yield answer(way.resource, *way.path, found=way.words, allowed=_ALLOWED)
        if not ways:
            yield passed(rule)


def _obstacles(template: Template, rule: Resource, targets: list[Any]) -> list[Obstacle]:
    """Return what keeps the events from all targets; none if one of them gets them, as far as can be seen."""
    found: list[Obstacle] = []
    sources = source_of(rule)
    for target in targets:
        arn = target.get("Arn") if isinstance(target, Mapping) else target
        topic, other = topic_named(template, arn), template.resource(arn, FUNCTION, QUEUE)
        if topic is not None:
            ways = obstacles(template, topic, EVENTS_SERVICE, source=sources)
        else:
            ways = [] if other is None else [*refusals(template, other, EVENTS_SERVICE, sources)]
        if not ways:
            return []
        found += ways
    return found


RULE = Rule(
    id="EventTargets",
    title="event rules for HyperPod are enabled and have a target that gets their events",
    severity="warning",
    why=(
        "A rule that is disabled, has no target, or one that refuses its events, looks like a watch that is "
        "kept, and tells nobody."
    ),
    fix=(
        "set State to ENABLED and name a target, such as a topic that somebody reads and that admits "
        f"{EVENTS_SERVICE}"
    ),
    source="EventBridge user guide, eb-rules",
    check=check,
)
