"""The nodes' role has no wildcards beyond the documented ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from hyperpod_model.catalog import iam as facts
from hyperpod_policy.clusters import distinct, execution_roles
from hyperpod_policy.identities import permissions, role_of
from hyperpod_policy.privileges import excesses
from hyperpod_policy.rule import Rule, Verdict, passed, undetermined
from hyperpod_policy.template import Template

_ALLOWED = "the documented actions, on * only where the service takes no scope"


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
        verdicts = [*excesses(held, documented=_documented(), who="nodes", allowed=_ALLOWED)]
        yield from verdicts if verdicts else [passed(role)]


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
