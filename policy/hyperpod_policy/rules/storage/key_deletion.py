"""The keys beside a cluster work, and can be saved when somebody deletes one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_policy.clusters import clusters
from hyperpod_policy.keys import KEY
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.rules.storage.key_policies import users_of_keys
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, integer, truth

_WINDOW: Final = "PendingWindowInDays"
_LEAST_DAYS: Final = 14
"""Longer than the absence of whoever would notice."""


def check(template: Template) -> Iterator[Verdict]:
    """Judge each key beside a cluster."""
    if not clusters(template):
        return
    users = users_of_keys(template)
    for key in template.of_type(KEY):
        verdicts = [*_enabled(key, users.get(key.key, "the stack")), *_window(key)]
        yield from verdicts if verdicts else [passed(key)]


def _enabled(key: Resource, words: str) -> Iterator[Verdict]:
    value = key.get("Enabled", default=True)
    if isinstance(value, Unresolved):
        yield undetermined(key, "Enabled", found=f"is {value}", allowed="true")
    elif truth(value) is not True:
        found = f"nobody can use the key of {words}"
        yield failed(key, "Enabled", found=found, allowed="true", severity="error")


def _window(key: Resource) -> Iterator[Verdict]:
    value = key.get(_WINDOW)
    days = integer(value)
    allowed = f"{_LEAST_DAYS} days or more; KMS itself waits 30"
    if isinstance(value, Unresolved):
        yield undetermined(key, _WINDOW, found=f"is {value}", allowed=allowed)
    elif days is not None and days < _LEAST_DAYS:
        yield failed(key, _WINDOW, found=f"is {days}", allowed=allowed)


RULE = Rule(
    id="KeyDeletion",
    title="the keys beside the cluster work, and their deletion can be undone for two weeks",
    severity="warning",
    why=(
        "With its key a bucket of checkpoints or a file system is gone for good, whatever else is retained. "
        "Until the waiting period is over the deletion can be called off, if somebody notices it in time."
    ),
    fix="leave Enabled at true, and PendingWindowInDays at its default or 14 and more",
    source="KMS developer guide, deleting KMS keys (waiting period) and enabling and disabling keys",
    check=check,
)
