"""Current checkpoints outlive a pause of the training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_policy.buckets import GuardedBucket, guarded_buckets
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, elements, integer

_RULES: Final = ("LifecycleConfiguration", "Rules")
_ARCHIVES: Final = ("GLACIER", "DEEP_ARCHIVE")
_LEAST_DAYS: Final = 30
"""How long a job may be paused, for want of capacity or of people, and still find where it was."""

_ALLOWED: Final = f"current checkpoints stay, readable at once, for {_LEAST_DAYS} days or more"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the lifecycle rules of each checkpoint bucket."""
    for guarded in guarded_buckets(template):
        if guarded.role == "checkpoint":
            rules, _ = elements(guarded.bucket.get(*_RULES))
            verdicts = [
                verdict
                for position, rule in enumerate(rules)
                if isinstance(rule, Mapping) and rule.get("Status") != "Disabled"
                for verdict in _judge(guarded, rule, position)
            ]
            yield from verdicts if verdicts else [passed(guarded.bucket, "LifecycleConfiguration")]


def _judge(guarded: GuardedBucket, rule: Mapping[str, Any], position: int) -> Iterator[Verdict]:
    days = rule.get("ExpirationInDays")
    path = (*_RULES, position)
    if isinstance(days, Unresolved):
        found = f"{guarded.words} deletes current checkpoints after {days}"
        yield undetermined(guarded.bucket, *path, "ExpirationInDays", found=found, allowed=_ALLOWED)
    number = integer(days)
    if number is not None and number < _LEAST_DAYS:
        found = f"{guarded.words} deletes current checkpoints after {number} days"
        yield failed(guarded.bucket, *path, "ExpirationInDays", found=found, allowed=_ALLOWED)
    for transition in elements(rule.get("Transitions", rule.get("Transition")))[0]:
        if not isinstance(transition, Mapping) or transition.get("StorageClass") not in _ARCHIVES:
            continue
        after = integer(transition.get("TransitionInDays"))
        if after is not None and after < _LEAST_DAYS:
            kind = transition["StorageClass"]
            found = f"{guarded.words} moves current checkpoints to {kind} after {after} days"
            yield failed(guarded.bucket, *path, found=found, allowed=_ALLOWED)


RULE = Rule(
    id="CheckpointExpiry",
    title="current checkpoints outlive a pause of the training",
    severity="warning",
    why=(
        "A job that stood still for want of capacity, over holidays or for a review, resumes from its last "
        "checkpoint. Once that has expired the training begins again, and from an archive it comes back in "
        "hours, for a fee."
    ),
    fix="expire noncurrent versions, and current objects after a month at the earliest",
    source="S3 user guide, lifecycle configuration and restoring archived objects",
    check=check,
)
