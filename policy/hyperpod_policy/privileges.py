"""What the policies of a role allow beyond what it needs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from hyperpod_model.catalog import iam as facts
from hyperpod_model.catalog.job_figures import PUT_ACTION
from hyperpod_policy.iam.action_data import matching
from hyperpod_policy.iam.conditions import Condition
from hyperpod_policy.iam.patterns import every, wildcard
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.identities import Permissions
from hyperpod_policy.rule import Severity, Verdict, failed, undetermined
from hyperpod_policy.values import Dynamic, Expression, Parameter, Text, truth

_EVERYTHING_OF: Final = frozenset(
    {"*", "*/*", "key/*", "role/*", "user/*", "secret:*", "parameter/*", "workspace/*"}
)
_CHANGED_BY_NAME: Final = frozenset({"cluster/*", "function:*", "stack/*"})
"""What a role may look at, and changes by name only: whoever changes all of these changes the cluster."""

_BROAD_MANAGED_POLICIES: Final = ("AdministratorAccess", "PowerUserAccess")
_EVERY_WORKSPACE: Final = frozenset({"AmazonPrometheusRemoteWriteAccess", "AmazonPrometheusQueryAccess"})
"""AWS managed policies for every workspace of Prometheus, which cannot name one."""

_FOR_SERVICES: Final = "kms:GrantIsForAWSResource"
_VIA_SERVICE: Final = "kms:viaservice"
_NAMESPACE: Final = "cloudwatch:namespace"
_PUT: Final = PUT_ACTION.lower()
_SHOWN: Final = 4


def excesses(
    held: Permissions,
    *,
    documented: frozenset[str],
    who: str,
    allowed: str,
    grants_through_services: bool = False,
    on_any_cluster: frozenset[str] = frozenset(),
) -> Iterator[Verdict]:
    """Yield what is too much, or may be, in the policies of a role.

    Args:
        held: What the policies say.
        documented: Actions in lower case that the role needs on ``*``.
        who: Who acts with the role, such as ``nodes``.
        allowed: What it may do instead.
        grants_through_services: Whether it may make key grants by asking a named service that then makes them
            for itself (``kms:ViaService``). By default not.
        on_any_cluster: Actions in lower case that the role needs on clusters whose name it cannot say. By
            default none.
    """
    for name, holder, path in held.aws_managed:
        if name in _BROAD_MANAGED_POLICIES or name.endswith("FullAccess"):
            yield failed(holder, *path, found=f"has the AWS managed policy {name}", allowed=allowed)
        elif name in _EVERY_WORKSPACE:
            found = f"has the AWS managed policy {name}, for every workspace of the account"
            yield failed(holder, *path, found=found, allowed=allowed, severity="warning")
    for value, holder, path in held.unknown:
        yield undetermined(holder, *path, found=f"policy {value} is not in this template", allowed=allowed)
    for statement in held.statements:
        if statement.effect == "Allow":
            yield from _judge(statement, documented, who, allowed, grants_through_services, on_any_cluster)


def _judge(
    statement: Statement,
    documented: frozenset[str],
    who: str,
    allowed: str,
    grants_through_services: bool,
    on_any_cluster: frozenset[str],
) -> Iterator[Verdict]:
    def fail(found: str, severity: Severity | None = None) -> Verdict:
        return failed(statement.holder, *statement.path, found=found, allowed=allowed, severity=severity)

    if statement.not_action:
        yield fail("allows every action but those in NotAction")
        return
    whole = [str(action) for action in statement.actions if is_whole_service(action)]
    if whole:
        yield fail(f"allows {', '.join(whole)}")
        return
    identity = [str(action) for action in statement.actions if _changes_identities(action)]
    if identity:
        yield fail(f"allows {', '.join(identity)}: {who} that change or pass roles can become anybody")
        return
    if statement.not_resource:
        yield fail("allows every resource but those in NotResource")
        return
    if covers(statement, facts.EBS_KEY_GRANT_ACTION) and not any(
        _grants_to_services(condition) or (grants_through_services and _is_through_a_service(condition))
        for condition in statement.conditions
    ):
        yield fail(
            f"allows {facts.EBS_KEY_GRANT_ACTION} without {_FOR_SERVICES}: {who} may hand the key to anybody"
        )
    unresolved = [item for item in (*statement.actions, *statement.resources) if _may_be_a_wildcard(item)]
    if unresolved:
        yield undetermined(
            statement.holder, *statement.path, found=f"depends on {unresolved[0]}", allowed=allowed
        )
    wide = [resource for resource in statement.resources if _is_everything(resource)]
    if not wide:
        named = [resource for resource in statement.resources if _is_everything(resource, _CHANGED_BY_NAME)]
        others = [str(action) for action in statement.actions if str(action).lower() not in on_any_cluster]
        changes = [action for action in others if not _only_reads(action)]
        if named and changes:
            yield fail(f"allows {_some(changes)} on {named[0]}")
        return
    actions = [str(action) for action in statement.actions]
    if any(action.lower() == _PUT for action in actions) and not any(
        map(_is_a_namespace, statement.conditions)
    ):
        yield failed(
            statement.holder,
            *statement.path,
            found=f"allows {PUT_ACTION} into every namespace: {who} may fake what alarms of others look at",
            allowed=f"a condition on {_NAMESPACE}",
            fix=f"add a condition StringEquals on {_NAMESPACE} with the namespace that it puts metrics into",
            severity="advice" if _PUT in documented else "warning",
        )
    others = [action for action in actions if action.lower() not in documented | {_PUT}]
    unscoped = [action for action in others if _takes_no_scope(action)]
    too_wide = [action for action in others if action not in unscoped]
    if too_wide:
        yield fail(f"allows {_some(too_wide)} on {wide[0]}")
    changing = [action for action in unscoped if not _only_reads(action)]
    if changing and not too_wide:
        yield fail(f"allows {_some(changing)}, which change something and take no scope", "warning")


def _is_a_namespace(condition: Condition) -> bool:
    """Whether a condition names the namespaces of metrics, or what deployment puts in their place."""
    operator = condition.operator
    loose = condition.negated or operator.endswith("IfExists") or operator.startswith("ForAllValues")
    return (
        condition.key.lower() == _NAMESPACE
        and not loose
        and operator.rpartition(":")[2].startswith("String")
        and not any(str(value).strip("*?") == "" for value in condition.values)
    )


def _grants_to_services(condition: Condition) -> bool:
    """Whether a condition keeps key grants to services of AWS, or to principals or operations by name."""
    key = condition.key.lower()
    if key == _FOR_SERVICES.lower():
        return condition.operator == "Bool" and any(truth(value) for value in condition.values)
    return key in ("kms:granteeprincipal", "kms:grantoperations") and not condition.negated


def _is_through_a_service(condition: Condition) -> bool:
    operator = condition.operator
    loose = condition.negated or operator.endswith("IfExists") or operator.startswith("ForAllValues")
    return (
        condition.key.lower() == _VIA_SERVICE and not loose and not any(map(_is_everything, condition.values))
    )


def is_whole_service(action: Any) -> bool:
    """Tell whether a pattern covers every action of a service, or of several."""
    if not isinstance(action, str):
        return False
    service, colon, name = action.partition(":")
    return wildcard(service) or (colon != "" and name.strip("*?") == "" and name != "")


def _changes_identities(pattern: Any) -> bool:
    """Whether an action on identities, or one of those that a pattern covers, does more than read."""
    if not isinstance(pattern, str) or not pattern.lower().startswith("iam:"):
        return False
    found = matching(pattern)
    return not found or not all(action.reads_only for action in found)


def _takes_no_scope(pattern: str) -> bool:
    """Whether no action that a pattern covers could be scoped; of one that nobody lists this is not known."""
    found = matching(pattern)
    return bool(found) and not any(action.can_be_scoped for action in found)


def _only_reads(pattern: str) -> bool:
    found = matching(pattern)
    return bool(found) and all(action.reads_only for action in found)


def _is_everything(resource: Any, kinds: frozenset[str] = _EVERYTHING_OF) -> bool:
    parts = resource.parts if isinstance(resource, Text) else (resource,)
    text = "".join(part if isinstance(part, str) else "x" for part in parts)
    if text.strip("*?") == "":
        return True
    fields = text.split(":", 5)
    return len(fields) == 6 and fields[5] in kinds


def _may_be_a_wildcard(value: Any) -> bool:
    return isinstance(value, Parameter | Dynamic | Expression)


def _some(actions: list[str]) -> str:
    more = len(actions) - _SHOWN
    return ", ".join(actions[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def covers(statement: Statement, action: str) -> bool:
    """Tell whether the actions of a statement certainly cover one."""
    return _listed(statement.actions, action) != statement.not_action


@lru_cache(maxsize=4096)
def _listed(patterns: tuple[Any, ...], action: str) -> bool:
    """Whether one of some patterns certainly covers an action; many rules ask about the same ones."""
    return any(every(pattern, action, ignore_case=True) for pattern in patterns)
