"""Workspaces of Amazon Managed Service for Prometheus: which rules alert, and where alerts go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Text, Unresolved, elements
from hyperpod_policy.written_yaml import written_yaml

WORKSPACE: Final = "AWS::APS::Workspace"
ALERT_MANAGER: Final = "AlertManagerDefinition"

_RULES: Final = "AWS::APS::RuleGroupsNamespace"
_CONFIGURATION: Final = "alertmanager_config"
_WAYS_OUT: Final = "_configs"
_TOPICS: Final = "sns_configs"
_MOST_ROUTES: Final = 1_000


def alerting_rules(template: Template, workspace: Resource) -> tuple[list[Resource], list[Resource]]:
    """Return the namespaces of a workspace with a rule that alerts, and those of which nobody can tell.

    Args:
        template: Template under review.
        workspace: A workspace of the template.
    """
    certain: list[Resource] = []
    unclear: list[Resource] = []
    for namespace in template.of_type(_RULES):
        if template.resource(namespace.get("Workspace"), WORKSPACE) is workspace:
            answer = _alerts(written_yaml(namespace.get("Data")))
            if answer is not False:
                (certain if answer else unclear).append(namespace)
    return certain, unclear


def _alerts(rules: Any) -> bool | None:
    """Whether a file of rules has one that alerts; ``None`` where its text does not tell."""
    if not isinstance(rules, Mapping):
        return None
    groups, complete = elements(rules.get("groups"))
    for group in groups:
        found, whole = elements(group.get("rules") if isinstance(group, Mapping) else group)
        if any(isinstance(rule, Mapping) and "alert" in rule for rule in found):
            return True
        complete = complete and whole and all(isinstance(rule, Mapping) for rule in found)
    return False if complete else None


def receivers_in_use(definition: Any) -> list[Mapping[str, Any]] | None:
    """Return the receivers to which the routes of an alert manager lead.

    Args:
        definition: Its definition, as resolved.

    Returns:
        ``None`` if its text does not tell.
    """
    written = written_yaml(definition)
    if not isinstance(written, Mapping):
        return None
    inner = written.get(_CONFIGURATION)
    configuration = written_yaml(inner) if isinstance(inner, str | Text) else inner
    if not isinstance(configuration, Mapping):
        return None
    receivers, complete = elements(configuration.get("receivers"))
    routes = list(_routes(configuration.get("route")))
    if not complete or any(isinstance(route, Unresolved) for route in routes):
        return None
    names = [route.get("receiver") for route in routes if isinstance(route, Mapping)]
    if any(isinstance(name, Unresolved) for name in names):
        return None
    found = [receiver for receiver in receivers if isinstance(receiver, Mapping)]
    if len(found) < len(receivers) or any(isinstance(one.get("name"), Unresolved) for one in found):
        return None
    return [receiver for receiver in found if receiver.get("name") in names]


def _routes(route: Any) -> Iterator[Any]:
    """Yield a route and those below it."""
    waiting = [route]
    for _ in range(_MOST_ROUTES):
        if not waiting:
            return
        current = waiting.pop()
        yield current
        if isinstance(current, Mapping):
            inner, complete = elements(current.get("routes"))
            waiting += inner
            if not complete:
                waiting.append(current["routes"])


def ways_out(receiver: Mapping[str, Any]) -> Iterator[Any]:
    """Yield where a receiver sends to: the ARN of a topic, or what else it names.

    Args:
        receiver: A receiver of an alert manager.
    """
    for name, value in receiver.items():
        if name.endswith(_WAYS_OUT):
            settings, complete = elements(value)
            for one in settings:
                yield one.get("topic_arn") if name == _TOPICS and isinstance(one, Mapping) else one
            if not complete:
                yield value
