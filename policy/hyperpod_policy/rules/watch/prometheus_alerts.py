"""Alerts of Prometheus tell somebody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_model.catalog.metrics import PROMETHEUS_SERVICE
from hyperpod_policy.clusters import clusters
from hyperpod_policy.prometheus import (
    ALERT_MANAGER,
    WORKSPACE,
    alerting_rules,
    receivers_in_use,
    ways_out,
)
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.topics import obstacles, source_of, topic_named
from hyperpod_policy.values import Reference

_ALLOWED: Final = "a receiver that reaches somebody, such as a topic with a subscription"


def check(template: Template) -> Iterator[Verdict]:
    """Judge each workspace of Prometheus beside a cluster whose rules alert."""
    if not clusters(template):
        return
    for workspace in template.of_type(WORKSPACE):
        certain, unclear = alerting_rules(template, workspace)
        if certain or unclear:
            rules = (certain or unclear)[0].logical_id
            verdicts = [*_judge(template, workspace, rules, alerts=bool(certain))]
            yield from verdicts if verdicts else [passed(workspace, ALERT_MANAGER)]


def _judge(template: Template, workspace: Resource, rules: str, *, alerts: bool) -> Iterator[Verdict]:
    answer = failed if alerts else undetermined
    told = f"rules of {rules} {'alert' if alerts else 'may alert'}"
    definition = workspace.get(ALERT_MANAGER)
    if definition is None:
        found = f"is missing, so nobody hears what {told}"
        yield answer(workspace, ALERT_MANAGER, found=found, allowed=_ALLOWED)
        return
    receivers = receivers_in_use(definition)
    if receivers is None:
        found = f"does not tell its receivers, though {told}"
        yield undetermined(workspace, ALERT_MANAGER, found=found, allowed=_ALLOWED)
        return
    targets = [target for receiver in receivers for target in ways_out(receiver)]
    if not targets:
        found = f"has no receiver that its routes name and that sends anywhere, though {told}"
        yield answer(workspace, ALERT_MANAGER, found=found, allowed=_ALLOWED)
        return
    yield from _ways(template, workspace, targets, alerts=alerts)


def _ways(template: Template, workspace: Resource, targets: list[Any], *, alerts: bool) -> Iterator[Verdict]:
    """Yield what is in the way to each topic, unless one of them, or something else, is reached."""
    source = [*source_of(workspace), Reference(workspace.key, "Ref")]
    seen: list[Verdict] = []
    for target in targets:
        topic = topic_named(template, target)
        if topic is None:
            return  # a receiver of another kind, or a topic of another stack: it has one
        ways = obstacles(template, topic, PROMETHEUS_SERVICE, source=source)
        if not ways:
            return
        for way in ways:
            answer = failed if way.certain and alerts else undetermined
            seen.append(answer(way.resource, *way.path, found=way.words, allowed=_ALLOWED))
    yield from seen


RULE = Rule(
    id="PrometheusAlerts",
    title="alerts of Prometheus tell somebody",
    severity="warning",
    why=(
        "A workspace evaluates its rules whether or not anybody is told. Without an alert manager whose "
        "receiver gets through, a queue that admits nothing is found by the team that waits for it."
    ),
    fix=(
        "give the workspace an AlertManagerDefinition whose route names a receiver with sns_configs, and let "
        f"{PROMETHEUS_SERVICE} publish to the topic and use its key; ManagedPrometheus does both"
    ),
    source=(
        "Managed Service for Prometheus user guide, AMP-alertmanager-config and "
        "AMP-alertmanager-receiver-AMPpermission"
    ),
    check=check,
)
