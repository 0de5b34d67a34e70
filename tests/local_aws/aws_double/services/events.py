"""EventBridge of the double: moto's, which knows no topics, no switched-off rules and nobody's permission.

Events of AWS services come from AWS alone. A stand-in for that: whoever asks with the trace header
``SERVICE_EVENT`` is the service, and others are refused, as AWS refuses them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from moto.events.models import EventsBackend, Rule
from moto.logs.models import logs_backends

from aws_double import ACCOUNT, SERVICE_EVENT
from aws_double.patching import around
from aws_double.permissions.principals import service
from aws_double.permissions.request import Request
from aws_double.permissions.statements import Said, said_by_resource_policy
from aws_double.permissions.verdicts import general_keys
from aws_double.services import cloudwatch, sns
from hyperpod_model.catalog.notifications import (
    EVENT_LOG_ACTIONS,
    EVENT_LOG_PREFIX,
    EVENT_LOG_SERVICES,
    EVENTS_SERVICE,
)

_VARIABLE = re.compile(r"<([A-Za-z0-9_.-]+)>")


def install() -> None:
    """Patch moto."""
    around(EventsBackend, "put_events", _refusing_events_of_services)
    around(Rule, "send_to_targets", _to_all_targets)


def _refusing_events_of_services(method: Callable[..., Any]) -> Callable[..., Any]:
    def put_events(backend: Any, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = []
        for event in events:
            if event.get("Source", "").startswith("aws.") and event.get("TraceHeader") != SERVICE_EVENT:
                answers.append(
                    {
                        "ErrorCode": "NotAuthorizedForSourceException",
                        "ErrorMessage": "Not authorized for the source.",
                    }
                )
            else:
                answers += method(backend, [event])
        return answers

    return put_events


def _to_all_targets(method: Callable[..., Any]) -> Callable[..., Any]:
    def send_to_targets(rule: Any, original_event: Any, transform_input: bool = True) -> None:
        if not rule.state.startswith("ENABLED") or not rule.event_pattern.matches_event(original_event):
            return
        ours = [target for target in rule.targets if target["Arn"].split(":")[2] in ("sns", "logs")]
        if len(ours) != len(rule.targets):
            raise AssertionError(f"{rule.name}: only topics and log groups are targets in this double")
        event = _as_sent(original_event)
        _count(rule, "TriggeredRules")
        for target in ours:
            deliver = _to_topic if target["Arn"].split(":")[2] == "sns" else _to_log_group
            reached = deliver(rule, target, event)
            _count(rule, "Invocations" if reached else "FailedInvocations")

    return send_to_targets


def _as_sent(event: Mapping[str, Any]) -> dict[str, Any]:
    sent = {key: value for key, value in event.items() if key != "ingestion-time"}
    time = sent["time"]
    if not isinstance(time, str):
        sent["time"] = datetime.fromtimestamp(float(time), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return sent


def _count(rule: Any, metric: str) -> None:
    cloudwatch.count(rule.region_name, "AWS/Events", metric, 1, {"RuleName": rule.name})


def _to_topic(rule: Any, target: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    # EventBridge tells topics and keys neither its rule nor its account.
    return sns.publish(EVENTS_SERVICE, target["Arn"], transformed(target, event), keys={}).allowed


def transformed(target: Mapping[str, Any], event: Mapping[str, Any]) -> str:
    """Return what a target gets of an event: the template with its variables filled in, quotes and all.

    A variable without a value becomes nothing.

    Raises:
        AssertionError: For a variable without a path, with which EventBridge refuses the target.
    """
    transformer = target.get("InputTransformer")
    if transformer is None:
        return json.dumps(event)
    values = {name: _at(event, path) for name, path in transformer.get("InputPathsMap", {}).items()}

    def fill(found: re.Match[str]) -> str:
        if found[1] not in values:
            raise AssertionError(f"the template has <{found[1]}>, which is not in InputPathsMap")
        value = values[found[1]]
        return "" if value is None else value if isinstance(value, str) else json.dumps(value)

    return _VARIABLE.sub(fill, transformer["InputTemplate"])


def _at(event: Any, path: str) -> Any:
    for step in path.removeprefix("$.").split("."):
        event = event.get(step) if isinstance(event, dict) else None
    return event


def _to_log_group(rule: Any, target: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    name = target["Arn"].split(":", 6)[6].removesuffix(":*")
    backend = logs_backends[ACCOUNT][rule.region_name]
    if not name.startswith(EVENT_LOG_PREFIX) or name not in backend.groups or not _may_write(backend, name):
        return False
    stream = str(event["id"])
    backend.create_log_stream(name, f"{rule.name}-{stream}")
    line = {"timestamp": int(datetime.now(UTC).timestamp() * 1000), "message": json.dumps(event)}
    backend.put_log_events(name, f"{rule.name}-{stream}", [line])
    return True


def _may_write(backend: Any, name: str) -> bool:
    arn = f"arn:aws:logs:{backend.region_name}:{ACCOUNT}:log-group:{name}:log-stream:events"
    policies = [json.loads(policy.policy_document) for policy in backend.resource_policies.values()]
    requests = [
        Request(service(one), action, arn, {**general_keys(), "aws:SourceAccount": ACCOUNT})
        for one in EVENT_LOG_SERVICES
        for action in EVENT_LOG_ACTIONS
    ]
    return all(
        any(Said.ALLOW in said_by_resource_policy(policy, request) for policy in policies)
        for request in requests
    )
