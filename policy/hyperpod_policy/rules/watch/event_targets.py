"""Event rules about a cluster are on, and lead somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from hyperpod_model.catalog.events import EVENT_TYPES
from hyperpod_policy.clusters import clusters
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, elements

_RULE: Final = "AWS::Events::Rule"
_TYPES: Final = frozenset(event_type.detail_type for event_type in EVENT_TYPES)
_ALLOWED: Final = "a rule that is enabled and has a target"


def check(template: Template) -> Iterator[Verdict]:
    """Judge each event rule for HyperPod of a template with a cluster."""
    if not clusters(template):
        return
    for rule in template.of_type(_RULE):
        if _is_about_hyperpod(rule):
            yield from _judge(rule)


def _is_about_hyperpod(rule: Resource) -> bool:
    pattern = rule.get("EventPattern")
    listed = pattern.get("detail-type") if isinstance(pattern, Mapping) else None
    return any(item in _TYPES for item in elements(listed)[0] if isinstance(item, str))


def _judge(rule: Resource) -> Iterator[Verdict]:
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
        yield passed(rule)


RULE = Rule(
    id="EventTargets",
    title="event rules for HyperPod are enabled and have a target",
    severity="warning",
    why="A rule that is disabled, or has no target, looks like a watch that is kept, and tells nobody.",
    fix="set State to ENABLED and name a target, such as a topic that somebody reads",
    source="EventBridge user guide, eb-rules",
    check=check,
)
