"""Nothing outside reaches the nodes."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.clusters import distinct, security_groups
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.security_groups import SECURITY_GROUP, rules_of
from hyperpod_policy.template import Template

_ALLOWED = "nodes take connections from security groups or narrow ranges; people come through Systems Manager"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the address ranges that the nodes' security groups admit."""
    for used, _ in distinct(security_groups(template)):
        quiet = True
        for rule, belongs in rules_of(template, used.value, "ingress"):
            open_to_the_world = rule.open_to_the_world
            if open_to_the_world is False:
                continue
            quiet = False
            answer = undetermined if open_to_the_world is None or belongs is None else failed
            yield answer(rule.holder, *rule.path, found=f"admits {rule}", allowed=_ALLOWED)
        resource = template.resource(used.value, SECURITY_GROUP)
        if quiet and resource is not None:
            yield passed(resource, "SecurityGroupIngress")


RULE = Rule(
    id="OpenIngress",
    title="no security group of nodes is open to every address",
    severity="error",
    why=(
        "Schedulers, elastic agents and debug servers on the nodes do not authenticate their callers. "
        "Whoever reaches them runs code on every training node."
    ),
    fix="replace 0.0.0.0/0 or ::/0 by the security group that needs access, or remove the rule",
    source=(
        "SageMaker developer guide, sagemaker-hyperpod-prerequisites; EC2 user guide, security group rules"
    ),
    check=check,
)
