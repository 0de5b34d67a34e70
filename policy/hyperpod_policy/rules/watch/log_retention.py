"""Logs are kept for as long as somebody asks about them, and no longer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_policy.clusters import clusters
from hyperpod_policy.keys import key_named
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, integer

_KEPT: Final = "Custom::NodeLogGroup"
"""ClusterObservability's own, for the log group that the nodes make too. It outlives its stack."""

_LOG_GROUPS: Final = ("AWS::Logs::LogGroup", _KEPT)
_RETAIN: Final = "Retain"

_RETENTION: Final = "RetentionInDays"

LEAST_DAYS: Final = 30
"""A judgement, no fact of AWS: a run lasts for weeks, and what broke it is asked about afterwards."""

_ALLOWED: Final = f"{LEAST_DAYS} days or more, with an end"


def check(template: Template) -> Iterator[Verdict]:
    """Judge each log group of a template with a cluster."""
    if not clusters(template):
        return
    for group in template.of_type(*_LOG_GROUPS):
        value = group.get(_RETENTION)
        days = integer(value)
        if value is None:
            yield failed(group, _RETENTION, found="is not set, so the log never expires", allowed=_ALLOWED)
        elif days is None:
            found = f"is {value}"
            answer = undetermined if isinstance(value, Unresolved) else failed
            yield answer(group, _RETENTION, found=found, allowed=_ALLOWED)
        elif days < LEAST_DAYS:
            yield failed(group, _RETENTION, found=f"is {days}", allowed=_ALLOWED)
        else:
            yield passed(group, _RETENTION)
    for group in template.of_type(_KEPT):
        key = key_named(template, group.get("KmsKeyArn"))
        if key is not None and {key.deletion_policy, key.update_replace_policy} != {_RETAIN}:
            found = f"goes with the stack, and the logs of {group.logical_id} cannot be read any more"
            allowed = "DeletionPolicy and UpdateReplacePolicy are Retain"
            yield failed(key, found=found, allowed=allowed)


RULE = Rule(
    id="LogRetention",
    title="logs are kept for as long as somebody asks about them, and no longer",
    severity="warning",
    why=(
        "A log that expires within days is gone when a run of weeks is looked into. One without an end is "
        "paid for as long as the account lives, and keeps what should have been deleted."
    ),
    fix="set RetentionInDays of the log group, and retain the key of logs that outlive their stack",
    source="CloudWatch Logs user guide, change log data retention",
    check=check,
)
