"""Topics of a cluster's stack admit known publishers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_model.catalog.notifications import WITHOUT_SOURCE_CONDITIONS
from hyperpod_policy.accounts import belonging
from hyperpod_policy.callers import narrows
from hyperpod_policy.clusters import clusters
from hyperpod_policy.deputies import comes_for_others
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.privileges import is_whole_service
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.topics import TOPIC_DOCUMENT, TOPIC_POLICIES
from hyperpod_policy.values import Unresolved

_OWNERS: Final = frozenset({"aws:sourceowner"})
"""What the default policy of a topic asks for: the account of whoever publishes."""

_ALLOWED: Final = "principals of the account, and services by name that may publish on the account's behalf"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the policies of topics beside a cluster."""
    if not clusters(template):
        return
    for policy in template.of_type(*TOPIC_POLICIES):
        verdicts = [
            verdict
            for statement in statements_of(policy, TOPIC_DOCUMENT)
            for verdict in _judge(policy, statement)
        ]
        yield from verdicts if verdicts else [passed(policy, TOPIC_DOCUMENT)]


def _judge(policy: Resource, statement: Statement | Unresolved) -> Iterator[Verdict]:
    if isinstance(statement, Unresolved):
        yield undetermined(policy, TOPIC_DOCUMENT, found=f"is {statement}", allowed=_ALLOWED)
        return
    if statement.effect != "Allow":
        return
    if statement.not_principal:
        found = "admits everybody but those in NotPrincipal"
        yield failed(policy, *statement.path, found=found, allowed=_ALLOWED)
        return
    for kind, value in statement.principals:
        if kind == "Service":
            yield from _service(policy, statement, value)
        elif comes_for_others(statement) is not False:
            narrowed = [narrows(condition, policy, owners=_OWNERS) for condition in statement.conditions]
            if True not in narrowed:
                yield from _stranger(policy, statement, kind, value, certain=None not in narrowed)


def _service(policy: Resource, statement: Statement, service: Any) -> Iterator[Verdict]:
    if statement.not_action or any(map(is_whole_service, statement.actions)):
        found = f"lets service {service} do more than publish, such as change the topic"
        yield failed(policy, *statement.path, found=found, allowed=_ALLOWED)
    elif service not in WITHOUT_SOURCE_CONDITIONS:
        others = comes_for_others(statement)
        if others:
            found = f"admits service {service}, on whosever behalf it comes"
            yield failed(policy, *statement.path, found=found, allowed=_ALLOWED)
        elif others is None:
            found = f"admits service {service}, for accounts that may be others"
            yield undetermined(policy, *statement.path, found=found, allowed=_ALLOWED)


def _stranger(
    policy: Resource, statement: Statement, kind: str, value: Any, *, certain: bool
) -> Iterator[Verdict]:
    whose = belonging(value, policy) if kind == "AWS" and value != "*" else "other"
    if whose == "other":
        found = f"admits {'everybody' if value == '*' else f'{kind} {value}, of another account'}"
        if not certain:
            found += ", held to an account that may be another"
        answer = failed if certain else undetermined
        yield answer(policy, *statement.path, found=found, allowed=_ALLOWED)
    elif whose == "unknown":
        found = f"admits {kind} {value}, whose account may be another"
        yield undetermined(policy, *statement.path, found=found, allowed=_ALLOWED)


RULE = Rule(
    id="TopicAccess",
    title="topics admit known publishers only",
    severity="warning",
    why=(
        "Whoever may publish to the topic can wake people with made-up faults until nobody believes a real "
        "one, and whoever may change it can stop all of them."
    ),
    fix=(
        "name the services that publish, with conditions on aws:SourceAccount or aws:SourceArn where they "
        "meet these, and let them publish and no more"
    ),
    source="SNS developer guide, sns-access-policy-use-cases",
    check=check,
)
