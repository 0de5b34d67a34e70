"""The keys beside a cluster admit known principals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_policy.accounts import belonging
from hyperpod_policy.buckets import guarded_buckets, key_of
from hyperpod_policy.clusters import clusters
from hyperpod_policy.deputies import comes_for_others
from hyperpod_policy.iam.conditions import Condition
from hyperpod_policy.iam.statements import Statement, statements_of
from hyperpod_policy.keys import KEY, KEY_POLICY, key_named
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.privileges import is_whole_service
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved

_ALLOWED: Final = "principals of the account by name, or a condition on kms:CallerAccount"
_FOR_SERVICES: Final = (
    "named actions, with a condition on aws:SourceAccount, kms:CallerAccount or the encryption context"
)
_NARROWING: Final = frozenset(
    {
        "kms:calleraccount",
        "aws:principalaccount",
        "aws:principalarn",
        "aws:principalorgid",
        "aws:sourceaccount",
        "aws:sourcearn",
        "aws:userid",
    }
)


def check(template: Template) -> Iterator[Verdict]:
    """Judge the policy of each key beside a cluster."""
    if not clusters(template):
        return
    users = users_of_keys(template)
    for key in template.of_type(KEY):
        if key.get(KEY_POLICY) is None:
            yield passed(key)
        else:
            yield from _judge(key, users.get(key.key, "the stack"))


def users_of_keys(template: Template) -> dict[str, str]:
    """Return what guarded buckets and file systems are called that have a key of the template, by its key."""
    found: dict[str, str] = {}
    for guarded in guarded_buckets(template):
        key = key_of(template, guarded.bucket)
        if key is not None:
            found.setdefault(key.key, guarded.words)
    for file_system in lustre_file_systems(template):
        key = key_named(template, file_system.get("KmsKeyId"))
        if key is not None:
            found.setdefault(key.key, f"file system {file_system.logical_id}")
    return found


def _judge(key: Resource, words: str) -> Iterator[Verdict]:
    verdicts: list[Verdict] = []
    for statement in statements_of(key, KEY_POLICY):
        if isinstance(statement, Unresolved):
            verdicts.append(undetermined(key, KEY_POLICY, found=f"is {statement}", allowed=_ALLOWED))
        elif statement.effect == "Allow":
            verdicts += _strangers(key, statement, words)
    yield from verdicts if verdicts else [passed(key, KEY_POLICY)]


def _strangers(key: Resource, statement: Statement, words: str) -> Iterator[Verdict]:
    actions = (
        ", ".join(map(str, statement.actions[:3])) if not statement.not_action else "everything but some"
    )
    narrowed = any(map(_narrows, statement.conditions))
    if statement.not_principal:
        if narrowed:
            return
        found = f"allows {actions} with the key of {words} to everybody but those in NotPrincipal"
        yield failed(key, *statement.path, found=found, allowed=_ALLOWED)
        return
    for kind, value in statement.principals:
        if kind == "Service":
            yield from _service(key, statement, value, f"{actions} with the key of {words}")
            continue
        if narrowed:
            continue
        found = f"allows {actions} with the key of {words} to {kind} {value}"
        if value == "*" and kind in ("*", "AWS"):
            found = f"allows {actions} with the key of {words} to everybody, other accounts included"
            yield failed(key, *statement.path, found=found, allowed=_ALLOWED)
        elif kind == "AWS" and belonging(value, key) == "other":
            yield failed(key, *statement.path, found=f"{found}, of another account", allowed=_ALLOWED)
        elif kind == "AWS" and belonging(value, key) == "unknown":
            yield undetermined(
                key, *statement.path, found=f"{found}, whose account may be another", allowed=_ALLOWED
            )


def _service(key: Resource, statement: Statement, service: Any, what: str) -> Iterator[Verdict]:
    """Judge what a service may do with a key, and for whom."""
    if statement.not_action or any(map(is_whole_service, statement.actions)):
        found = f"allows {what} to service {service}, its deletion and policy included"
        yield failed(key, *statement.path, found=found, allowed=_FOR_SERVICES, severity="warning")
    elif comes_for_others(statement):
        found = f"allows {what} to service {service}, on whosever behalf it comes"
        yield failed(key, *statement.path, found=found, allowed=_FOR_SERVICES, severity="warning")
    elif comes_for_others(statement) is None:
        found = f"allows {what} to service {service}, for accounts that may be others"
        yield undetermined(key, *statement.path, found=found, allowed=_FOR_SERVICES)


def _narrows(condition: Condition) -> bool:
    """Whether a condition holds for known callers only."""
    return (
        condition.key.lower() in _NARROWING
        and not condition.negated
        and not condition.operator.endswith("IfExists")
        and not condition.operator.startswith("ForAllValues")
        and "Null" not in condition.operator
        and "*" not in condition.values
    )


RULE = Rule(
    id="KeyPolicies",
    title="the keys of checkpoints, scripts, file systems and logs admit known principals only",
    severity="error",
    why=(
        "The key is the second lock of the weights. A key policy that names everybody lets any account with "
        "a copy of the objects decrypt them, and any principal with kms:PutKeyPolicy or "
        "kms:ScheduleKeyDeletion make them unreadable for good."
    ),
    fix=(
        "let the key policy allow the account's root, which leaves it to the account's own policies, and "
        "services with a condition on kms:CallerAccount or aws:SourceAccount"
    ),
    source="KMS developer guide, key policies and default key policy",
    check=check,
)
