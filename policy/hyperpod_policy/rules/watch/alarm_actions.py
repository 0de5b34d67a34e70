"""Alarms tell somebody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_model.catalog.notifications import ALARMS_SERVICE
from hyperpod_policy.clusters import clusters, groups
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.topics import obstacles, source_of, topic_named
from hyperpod_policy.values import Unresolved, elements, resources_in, truth

_ALARM: Final = "AWS::CloudWatch::Alarm"
_COMPOSITE: Final = "AWS::CloudWatch::CompositeAlarm"
_ACTIONS: Final = "AlarmActions"
_RULE: Final = "AlarmRule"
_NEVER: Final = "FALSE"
_ENABLED: Final = "ActionsEnabled"
_ALLOWED: Final = "an action that reaches somebody, such as a topic with a subscription"
_ROLLBACK: Final = "AutoRollbackConfiguration"
_UPDATE_CONFIGS: Final = ("AutoPatchConfig", "ScheduledUpdateConfig")


def check(template: Template) -> Iterator[Verdict]:
    """Judge each alarm of a template with a cluster."""
    if not clusters(template):
        return
    read = _read_by_others(template)
    for alarm in template.of_type(_ALARM, _COMPOSITE):
        if alarm.key in read or alarm.get("AlarmName") in read:
            yield passed(alarm)
        else:
            verdicts = [*_judge(template, alarm)]
            yield from verdicts if verdicts else [passed(alarm)]


def _judge(template: Template, alarm: Resource) -> Iterator[Verdict]:
    if str(alarm.get(_RULE)).strip().upper() == _NEVER:
        yield failed(
            alarm, _RULE, found="is FALSE, so that it never begins", allowed="a rule on other alarms"
        )
        return
    enabled = alarm.get(_ENABLED, default=True)
    if isinstance(enabled, Unresolved):
        yield undetermined(alarm, _ENABLED, found=f"is {enabled}", allowed=_ALLOWED)
    elif truth(enabled) is False:
        yield failed(alarm, _ENABLED, found="is false, so its actions never run", allowed=_ALLOWED)
        return
    actions, complete = elements(alarm.get(_ACTIONS))
    if not actions:
        answer = failed if complete else undetermined
        yield answer(alarm, _ACTIONS, found="names no action", allowed=_ALLOWED)
    seen: list[Verdict] = []
    for action in actions:
        topic = topic_named(template, action)
        if topic is None:
            return  # an action of another kind, or a topic of another stack: it has one
        ways = obstacles(template, topic, ALARMS_SERVICE, source=source_of(alarm))
        if not ways:
            return
        for way in ways:
            answer = failed if way.certain else undetermined
            seen.append(answer(way.resource, *way.path, found=way.words, allowed=_ALLOWED))
    yield from seen


def _read_by_others(template: Template) -> set[Any]:
    """Return keys and names of alarms that composite alarms or updates of nodes read."""
    found: set[Any] = set()
    for composite in template.of_type(_COMPOSITE):
        rule = composite.get(_RULE)
        found.update(resources_in(rule))
        found.update(_quoted(str(rule)))
    for cluster in clusters(template):
        for group in groups(cluster):
            for config in _UPDATE_CONFIGS:
                for alarm in elements(cluster.get(*group.path, config, "DeploymentConfig", _ROLLBACK))[0]:
                    name = alarm.get("AlarmName") if isinstance(alarm, Mapping) else None
                    found.update(resources_in(name))
                    if isinstance(name, str):
                        found.add(name)
    return found


def _quoted(rule: str) -> Iterator[str]:
    """Yield the names of alarms in the rule of a composite one, as ``ALARM("name")`` or ``ALARM(name)``."""
    for part in rule.split("(")[1:]:
        yield part.partition(")")[0].strip().strip("\"'")


RULE = Rule(
    id="AlarmActions",
    title="alarms tell somebody",
    severity="warning",
    why=(
        "An alarm without an action turns red on a page that nobody has open, and CloudWatch says nothing "
        "where the topic or its key does not admit it."
    ),
    fix=(
        f"name a topic with a subscription in AlarmActions, and let {ALARMS_SERVICE} publish to it and use "
        "its key"
    ),
    source="CloudWatch user guide, AlarmThatSendsEmail; SNS developer guide, sns-key-management",
    check=check,
)
