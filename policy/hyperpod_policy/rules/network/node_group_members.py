"""Nobody but the nodes is in the nodes' security groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_policy.clusters import distinct, security_groups
from hyperpod_policy.group_members import members_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed
from hyperpod_policy.security_groups import SECURITY_GROUP
from hyperpod_policy.template import Template

_ALLOWED: Final = "a security group of its own, admitted at the ports that it needs"


def check(template: Template) -> Iterator[Verdict]:
    """Judge what the template puts into each security group of the nodes."""
    for used, _ in distinct(security_groups(template)):
        found = False
        for member, path in members_of(template, used.value):
            found = True
            words = f"is a member of {used.value}, a security group of the nodes"
            yield failed(member, *path, found=words, allowed=_ALLOWED)
        resource = template.resource(used.value, SECURITY_GROUP)
        if not found and resource is not None:
            yield passed(resource)


RULE = Rule(
    id="NodeGroupMembers",
    title="nothing but nodes runs code in the nodes' security groups",
    severity="warning",
    why=(
        "EFA needs a group whose members reach each other on every port, so whatever else is in it reaches "
        "schedulers, debug servers and the ports of tiered checkpointing. A login host, a notebook or a "
        "function in the group brings everybody to the nodes who runs code there, and a load balancer "
        "whoever reaches it."
    ),
    fix="give it a security group of its own, and admit that at the nodes' group on the ports that it needs",
    source=(
        "SageMaker developer guide, sagemaker-hyperpod-prerequisites and managed-tier-checkpointing-setup "
        "(security group rules); EC2 user guide, security groups"
    ),
    check=check,
)
