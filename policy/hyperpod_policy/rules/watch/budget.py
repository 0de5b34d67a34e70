"""Somebody hears when the account spends more than was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_model.catalog.notifications import BUDGETS_SERVICE
from hyperpod_policy.clusters import clusters
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.topics import obstacles, topic_named
from hyperpod_policy.values import elements

_BUDGET: Final = "AWS::Budgets::Budget"
_NOTIFICATIONS: Final = "NotificationsWithSubscribers"
_ALLOWED: Final = "a budget with a notification and a subscriber"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the budgets of a template with a cluster."""
    found = clusters(template)
    budgets = list(template.of_type(_BUDGET))
    verdicts = [verdict for budget in budgets for verdict in _judge(template, budget)]
    for cluster in found:
        if not budgets:
            yield failed(cluster, found="this template has no budget", allowed=_ALLOWED)
        elif any(verdict.outcome == "pass" for verdict in verdicts):
            yield passed(cluster)
    if found and not any(verdict.outcome == "pass" for verdict in verdicts):
        yield from verdicts


def _judge(template: Template, budget: Resource) -> Iterator[Verdict]:
    notifications, complete = elements(budget.get(_NOTIFICATIONS))
    verdicts: list[Verdict] = []
    for position, notification in enumerate(notifications):
        path = (_NOTIFICATIONS, position, "Subscribers")
        subscribers, all_known = elements(_at(notification, "Subscribers"))
        for subscriber in subscribers:
            verdicts += _told(template, budget, path, subscriber)
        if not subscribers:
            answer = failed if all_known else undetermined
            verdicts.append(answer(budget, *path, found="names nobody", allowed=_ALLOWED))
    if not notifications:
        answer = failed if complete else undetermined
        verdicts.append(answer(budget, _NOTIFICATIONS, found="names no notification", allowed=_ALLOWED))
    yield from verdicts


def _told(
    template: Template, budget: Resource, path: tuple[str | int, ...], subscriber: Any
) -> Iterator[Verdict]:
    topic = topic_named(template, _at(subscriber, "Address"))
    ways = [] if topic is None else obstacles(template, topic, BUDGETS_SERVICE)
    for way in ways:
        answer = failed if way.certain else undetermined
        yield answer(way.resource, *way.path, found=way.words, allowed=_ALLOWED)
    if not ways:
        yield passed(budget, *path)


def _at(value: Any, member: str) -> Any:
    return value.get(member) if isinstance(value, Mapping) else value


RULE = Rule(
    id="Budget",
    title="somebody hears when the account spends more than was meant",
    severity="warning",
    why=(
        "Accelerated nodes cost the same idle as busy. Whoever learns from the monthly bill that a job has "
        "hung, or that a group was never scaled down, has paid for weeks of it."
    ),
    fix="add an AWS::Budgets::Budget with a notification and a subscriber, by e-mail or through a topic",
    source="AWS Cost Management user guide, budgets and SNS topics for budget notifications",
    check=check,
)
