"""The ports of managed tiered checkpointing are open to the nodes alone."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.ports import TIERED_CHECKPOINTING
from hyperpod_policy.clusters import distinct, security_groups
from hyperpod_policy.lustre_efa import is_efa_lustre_exception
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.security_groups import (
    CHECKPOINT_PORTS,
    SECURITY_GROUP,
    SecurityGroupRule,
    known_in_full,
    rules_of,
)
from hyperpod_policy.template import Template
from hyperpod_policy.values import same


def check(template: Template) -> Iterator[Verdict]:
    """Judge every ingress rule of the nodes' security groups."""
    node_groups = [used.value for used, _ in distinct(security_groups(template))]
    for used, _ in distinct(security_groups(template)):
        resource = template.resource(used.value, SECURITY_GROUP)
        holder, path = (
            (used.cluster, used.path) if resource is None else (resource, ("SecurityGroupIngress",))
        )
        quiet = True
        for rule, belongs in rules_of(template, used.value, "ingress"):
            reached = _reaches(rule)
            from_self = same(rule.peer, used.value) if rule.peer_kind == "group" else False
            if reached is False or from_self is True:
                continue
            if is_efa_lustre_exception(template, rule, node_groups):
                continue
            quiet = False
            allowed = f"{CHECKPOINT_PORTS} may be reached from the security group itself only"
            if reached is None or from_self is None or belongs is None:
                yield undetermined(rule.holder, *rule.path, found=f"admits {rule}", allowed=allowed)
            else:
                yield failed(rule.holder, *rule.path, found=f"admits {rule}", allowed=allowed)
        if quiet and known_in_full(template, used.value, "ingress"):
            yield passed(holder, *path)
        elif quiet:
            yield undetermined(
                holder,
                *path,
                found=f"the ingress rules of security group {used.value} are not all in this template",
                allowed=f"{CHECKPOINT_PORTS} may be reached from the security group itself only",
            )


def _reaches(rule: SecurityGroupRule) -> bool | None:
    answers = {rule.reaches(ports) for ports in TIERED_CHECKPOINTING}
    if True in answers:
        return True
    return None if None in answers else False


RULE = Rule(
    id="CheckpointPorts",
    title="the ports of managed tiered checkpointing are open to the nodes' own security group alone",
    severity="error",
    why=(
        "Nodes serve checkpoints from memory on these ports. Whoever reaches them can read model weights or "
        "hand the nodes a checkpoint of their own, and a checkpoint is code: unpickling runs it on every "
        "training node."
    ),
    fix=(
        "narrow the rule to other ports, or take its source into the nodes' security group; for an "
        "EFA-enabled file system use a security group that admits nobody but the nodes"
    ),
    source="SageMaker developer guide, managed-tier-checkpointing-setup (security group rules)",
    check=check,
)
