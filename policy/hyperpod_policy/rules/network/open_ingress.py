"""Nothing outside reaches the nodes, and what stands beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_policy.clusters import clusters, distinct, security_groups
from hyperpod_policy.eks_clusters import control_planes
from hyperpod_policy.isolated_networks import endpoints_beside_nodes
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.security_groups import SECURITY_GROUP, known_in_full, rules_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Reference, elements

_FUNCTION = "AWS::Lambda::Function"
_ALLOWED = "connections from security groups or narrow ranges; people come through Systems Manager"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the address ranges that security groups of nodes, and of what stands beside them, admit."""
    for used, _ in distinct(security_groups(template)):
        resource = template.resource(used.value, SECURITY_GROUP)
        if resource is None:
            yield from _judge(template, used.value, "nodes", used.cluster, *used.path)
        else:
            yield from _judge(template, used.value, "nodes", resource, "SecurityGroupIngress")
    for control_plane in control_planes(template):
        yield from _judge_made_by_eks(template, control_plane)
    for group, whose in _others(template):
        yield from _judge(template, group.ref, whose, group, "SecurityGroupIngress")


def _judge(
    template: Template, group: Any, whose: str, resource: Resource, *path: str | int
) -> Iterator[Verdict]:
    quiet = True
    for rule, belongs in rules_of(template, group, "ingress"):
        wide = rule.open_to_many
        if wide is False:
            continue
        quiet = False
        found = f"a security group of {whose} admits {rule}"
        answer = undetermined if wide is None or belongs is None else failed
        yield answer(rule.holder, *rule.path, found=found, allowed=_ALLOWED)
    if quiet and known_in_full(template, group, "ingress"):
        yield passed(resource, *path)
    elif quiet:
        found = f"the ingress rules of {group}, a security group of {whose}, are not all in this template"
        yield undetermined(resource, *path, found=found, allowed=_ALLOWED)


def _judge_made_by_eks(template: Template, control_plane: Resource) -> Iterator[Verdict]:
    """Judge the rules that a template adds to the group which EKS makes for a cluster."""
    group = Reference(control_plane.key, "ClusterSecurityGroupId")
    if any(used.value == group for used in security_groups(template)):
        return  # judged as one of the nodes' groups
    for rule, belongs in rules_of(template, group, "ingress"):
        if belongs and rule.open_to_many:
            found = f"the security group of {control_plane.logical_id} admits {rule}"
            yield failed(rule.holder, *rule.path, found=found, allowed=_ALLOWED)


def _others(template: Template) -> Iterator[tuple[Resource, str]]:
    """Yield the groups of what stands beside the nodes, each once, with what has it."""
    seen = {used.value for used in security_groups(template)}
    for resource, listed in _beside(template):
        for value in elements(listed)[0]:
            group = template.resource(value, SECURITY_GROUP)
            if group is not None and group.ref not in seen:
                seen.add(group.ref)
                yield group, resource.logical_id


def _beside(template: Template) -> Iterator[tuple[Resource, Any]]:
    for resource in (*lustre_file_systems(template), *endpoints_beside_nodes(template)):
        yield resource, resource.get("SecurityGroupIds")
    for control_plane in control_planes(template):
        yield control_plane, control_plane.get("ResourcesVpcConfig", "SecurityGroupIds")
    for function in template.of_type(_FUNCTION) if clusters(template) else ():
        yield function, function.get("VpcConfig", "SecurityGroupIds")


RULE = Rule(
    id="OpenIngress",
    title="no security group of nodes, or of what stands beside them, is open to the internet",
    severity="error",
    why=(
        "Schedulers, elastic agents and debug servers on the nodes do not authenticate their callers. "
        "Whoever reaches them runs code on every training node. A file system admits whoever reaches its "
        "port, and an endpoint open to everything serves whatever else gets into the network."
    ),
    fix=(
        "replace 0.0.0.0/0, ::/0 or any wide public range by the security group that needs access, or remove "
        "the rule"
    ),
    source=(
        "SageMaker developer guide, sagemaker-hyperpod-prerequisites; EC2 user guide, security group rules"
    ),
    check=check,
)
