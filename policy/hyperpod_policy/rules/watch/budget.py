"""Somebody hears when the account spends more than was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hyperpod_model.catalog.budgets import COST_SERVICE, SPENDING_TYPES, TAG_FILTER, tag_filter_value
from hyperpod_model.catalog.notifications import BUDGETS_SERVICE
from hyperpod_policy.clusters import clusters
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.topics import obstacles, topic_named
from hyperpod_policy.values import Unresolved, elements, same

_BUDGET: Final = "AWS::Budgets::Budget"
_NOTIFICATIONS: Final = "NotificationsWithSubscribers"
_FILTERS: Final = "CostFilters"
_OPERATOR: Final = "ComparisonOperator"
_BELOW: Final = ("LESS_THAN", "EQUAL_TO")
_USERS: Final = "user:"
_ALLOWED: Final = "a budget with a notification and a subscriber"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the budgets of a template with a cluster."""
    found = clusters(template)
    budgets = list(template.of_type(_BUDGET))
    verdicts = [verdict for budget in budgets for verdict in _judge(template, budget, found)]
    for cluster in found:
        if not budgets:
            yield failed(cluster, found="this template has no budget", allowed=_ALLOWED)
        elif any(verdict.outcome == "pass" for verdict in verdicts):
            yield passed(cluster)
    if found and not any(verdict.outcome == "pass" for verdict in verdicts):
        yield from verdicts


def _judge(template: Template, budget: Resource, known: Sequence[Resource]) -> Iterator[Verdict]:
    elsewhere = [*_counts_elsewhere(budget, known)]
    if elsewhere:
        yield from elsewhere
        return
    notifications, complete = elements(budget.get(_NOTIFICATIONS))
    verdicts: list[Verdict] = []
    for position, notification in enumerate(notifications):
        path = (_NOTIFICATIONS, position, "Subscribers")
        asked = _at(_at(notification, "Notification"), _OPERATOR)
        if asked in _BELOW:
            found = f"is {asked}, which tells of other spending than of too much"
            above = (_NOTIFICATIONS, position, "Notification", _OPERATOR)
            verdicts.append(failed(budget, *above, found=found, allowed="GREATER_THAN"))
            continue
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


def _counts_elsewhere(budget: Resource, known: Sequence[Resource]) -> Iterator[Verdict]:
    """Yield what keeps the costs of the clusters out of a budget, or may."""
    kind = budget.get("Budget", "BudgetType")
    if isinstance(kind, str) and kind not in SPENDING_TYPES:
        found = f"is {kind}, which counts no spending"
        yield failed(budget, "Budget", "BudgetType", found=found, allowed=" or ".join(SPENDING_TYPES))
        return
    services, complete = elements(budget.get("Budget", _FILTERS, "Service"))
    if services and complete and all(isinstance(one, str) and COST_SERVICE not in one for one in services):
        found = f"is {', '.join(services)}, and nodes of HyperPod are charged as {COST_SERVICE}"
        yield failed(budget, "Budget", _FILTERS, "Service", found=found, allowed=f"Amazon {COST_SERVICE}")
    tags, complete = elements(budget.get("Budget", _FILTERS, TAG_FILTER))
    if tags and complete:
        yield from _tags(budget, tags, known)


def _tags(budget: Resource, asked: Sequence[Any], known: Sequence[Resource]) -> Iterator[Verdict]:
    """Judge a filter by tags. A tag of the whole stack may be one that no resource of the template names."""
    if any(isinstance(one, str) and not one.startswith(_USERS) for one in asked):
        return  # a tag that AWS sets, of which the template says nothing
    path = ("Budget", _FILTERS, TAG_FILTER)
    answers: set[bool | None] = set()
    for cluster in known:
        tags, complete = elements(cluster.get("Tags"))
        own = [(tag.get("Key"), tag.get("Value")) for tag in tags if isinstance(tag, Mapping)]
        for filtered in asked:
            exact = {_is_tag(filtered, key, value) for key, value in own}
            if True in exact:
                return
            keyed = isinstance(filtered, str) and any(
                isinstance(key, str) and filtered.startswith(tag_filter_value(key, "")) for key, _ in own
            )
            answers.add(False if keyed and complete and None not in exact else None)
    wanted = ", ".join(map(str, asked))
    allowed = "a tag of the cluster"
    if answers == {False}:
        found = f"is {wanted}, and the cluster has another value of that tag"
        yield failed(budget, *path, found=found, allowed=allowed)
    else:
        found = f"is {wanted}, which no cluster here has for certain; tags of the whole stack are not seen"
        yield undetermined(budget, *path, found=found, allowed=allowed)


def _is_tag(filtered: Any, key: Any, value: Any) -> bool | None:
    if isinstance(key, Unresolved) or not isinstance(value, str):
        return None
    return same(filtered, tag_filter_value(str(key), value))


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
