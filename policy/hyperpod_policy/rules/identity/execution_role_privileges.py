"""The nodes' role has no wildcards beyond the documented ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from hyperpod_model.catalog import iam as facts
from hyperpod_policy.clusters import distinct, execution_roles
from hyperpod_policy.iam.statements import Statement
from hyperpod_policy.identities import Permissions, permissions, role_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Dynamic, Expression, Parameter, Text

_ALLOWED = "the documented actions, on * only where the service takes no scope"
_EVERYTHING_OF: Final = frozenset({"*", "*/*", "key/*", "role/*", "user/*", "secret:*", "parameter/*"})
_BROAD_MANAGED_POLICIES: Final = ("AdministratorAccess", "PowerUserAccess")


def check(template: Template) -> Iterator[Verdict]:
    """Judge what each execution role may do."""
    for used, _ in distinct(execution_roles(template)):
        role = role_of(template, used.value)
        if role is None:
            yield undetermined(
                used.cluster, *used.path, found=f"role {used.value} is not in this template", allowed=_ALLOWED
            )
            continue
        held = permissions(template, role)
        verdicts = [*_managed(held)]
        for statement in held.statements:
            if statement.effect == "Allow":
                verdicts += _judge(statement)
        yield from verdicts if verdicts else [passed(role)]


def _managed(held: Permissions) -> Iterator[Verdict]:
    for name, holder, path in held.aws_managed:
        if name in _BROAD_MANAGED_POLICIES or name.endswith("FullAccess"):
            yield failed(holder, *path, found=f"has the AWS managed policy {name}", allowed=_ALLOWED)
    for value, holder, path in held.unknown:
        yield undetermined(holder, *path, found=f"policy {value} is not in this template", allowed=_ALLOWED)


def _judge(statement: Statement) -> Iterator[Verdict]:
    def fail(found: str) -> Verdict:
        return failed(statement.holder, *statement.path, found=found, allowed=_ALLOWED)

    if statement.not_action:
        yield fail("allows every action but those in NotAction")
        return
    whole = [str(action) for action in statement.actions if _is_whole_service(action)]
    if whole:
        yield fail(f"allows {', '.join(whole)}")
        return
    identity = [str(action) for action in statement.actions if str(action).lower().startswith("iam:")]
    if identity:
        yield fail(f"allows {', '.join(identity)}: nodes that change or pass roles can become anybody")
        return
    if statement.not_resource:
        yield fail("allows every resource but those in NotResource")
        return
    unresolved = [item for item in (*statement.actions, *statement.resources) if _may_be_a_wildcard(item)]
    if unresolved:
        yield undetermined(
            statement.holder, *statement.path, found=f"depends on {unresolved[0]}", allowed=_ALLOWED
        )
    wide = [resource for resource in statement.resources if _is_everything(resource)]
    undocumented = [str(action) for action in statement.actions if str(action).lower() not in _documented()]
    if wide and undocumented:
        yield fail(f"allows {', '.join(undocumented)} on {wide[0]}")


def _is_whole_service(action: Any) -> bool:
    return isinstance(action, str) and (
        action.strip("*?") == "" or action.rpartition(":")[2].strip("*?") == ""
    )


def _is_everything(resource: Any) -> bool:
    parts = resource.parts if isinstance(resource, Text) else (resource,)
    text = "".join(part if isinstance(part, str) else "x" for part in parts)
    if text.strip("*?") == "":
        return True
    fields = text.split(":", 5)
    return len(fields) == 6 and fields[5] in _EVERYTHING_OF


def _may_be_a_wildcard(value: Any) -> bool:
    return isinstance(value, Parameter | Dynamic | Expression)


@cache
def _documented() -> frozenset[str]:
    lists = (
        facts.SLURM_VPC_ACTIONS,
        facts.EKS_ACTIONS,
        facts.ECR_ACTIONS,
        facts.EKS_AUTH_ACTIONS,
        facts.FILE_SYSTEM_READ_ACTIONS,
    )
    names = {action.name.lower() for actions in lists for action in actions}
    for statement in facts.CLUSTER_INSTANCE_STATEMENTS:
        actions = statement["Action"]
        names.update(action.lower() for action in ([actions] if isinstance(actions, str) else actions))
    names -= {"s3:getobject", "s3:listbucket"}
    names.update((facts.EBS_KEY_GRANT_ACTION.lower(), facts.EBS_KEY_DESCRIBE_ACTION.lower()))
    return frozenset(names)


RULE = Rule(
    id="ExecutionRolePrivileges",
    title="the nodes' execution role has no wildcards beyond the documented ones",
    severity="error",
    why=(
        "On Slurm every user of the cluster acts with this role, on EKS every pod on the host network. What "
        "it may do beyond the documented actions is what a single malicious job or package may do to the "
        "account."
    ),
    fix=(
        "name the actions, and scope them to the buckets, keys, subnets and groups at hand; ExecutionRole "
        "has the documented list"
    ),
    source="SageMaker developer guide, sagemaker-hyperpod-prerequisites-iam; Service Authorization Reference",
    check=check,
)
