"""Nodes can call AWS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_model.catalog.ports import HTTPS
from hyperpod_policy.address_ranges import network_of
from hyperpod_policy.clusters import clusters, distinct, groups, security_groups_of, subnets
from hyperpod_policy.isolated_networks import endpoints_beside_nodes
from hyperpod_policy.networks import SUBNET, vpc_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.security_groups import SecurityGroupRule, known_in_full, rules_of
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import same

_PORTS = " and ".join(str(ports) for ports in HTTPS)
_ALLOWED = f"egress at {_PORTS} to addresses, a prefix list or the group of the endpoints"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the security groups of each instance group together: a node has all of them."""
    for cluster in clusters(template):
        judged: set[Any] = set()
        for group in groups(cluster):
            values, complete, path = security_groups_of(group)
            if path not in judged:
                judged.add(path)
                yield _judge(template, cluster, values, complete, path)


def _judge(
    template: Template, cluster: Resource, own: list[Any], complete: bool, path: tuple[str | int, ...]
) -> Verdict:
    answers = {_sends(template, group, own) for group in own}
    if True in answers:
        return passed(cluster, *path)
    if not complete or None in answers or not own:
        found = f"whether the nodes send anything at {_PORTS} is not in this template"
        return undetermined(cluster, *path, found=found, allowed=_ALLOWED)
    names = ", ".join(map(str, own))
    return failed(
        cluster, *path, found=f"{names} let nodes send nothing to AWS at {_PORTS}", allowed=_ALLOWED
    )


def _sends(template: Template, group: Any, own: list[Any]) -> bool | None:
    """Whether a group lets nodes send HTTPS to where AWS answers."""
    rules = rules_of(template, group, "egress")
    known = known_in_full(template, group, "egress")
    if known and not rules:
        return True  # without any egress rule EC2 admits everything
    unclear = not known
    for rule, belongs in rules:
        covers = all(rule.covers(ports) for ports in HTTPS)
        if covers and belongs and _leads_to_aws(template, rule, own):
            return True
        unclear = unclear or any(rule.covers(ports) is None for ports in HTTPS)
    return None if unclear else False


def _leads_to_aws(template: Template, rule: SecurityGroupRule, own: list[Any]) -> bool:
    """Whether a rule leads to AWS: to everywhere, or to something that may be an endpoint of the VPC.

    Where the template makes the nodes' VPC it shows its endpoints too; without any, private addresses,
    prefix lists and other groups lead nowhere.
    """
    if rule.peer_kind == "group" and any(same(rule.peer, group) is True for group in own):
        return False
    if rule.peer_kind == "ipv4" and rule.open_to_the_world is not False:
        return True
    if rule.peer_kind == "ipv4" and not _is_private(rule.peer):
        return True
    return not template.once(_has_no_endpoints)


def _is_private(value: Any) -> bool:
    network = network_of(value)
    return network is not None and network.is_private


def _has_no_endpoints(template: Template) -> bool:
    found = [template.resource(used.value, SUBNET) for used, _ in distinct(subnets(template))]
    made = all(subnet is not None and vpc_of(template, subnet) is not None for subnet in found)
    return made and all(
        endpoint.get("VpcEndpointType", default="Gateway") == "Gateway"
        for endpoint in endpoints_beside_nodes(template)
    )


RULE = Rule(
    id="NodeEgress",
    title="nodes can call AWS over HTTPS",
    severity="error",
    why=(
        "Nodes fetch scripts and images, register with Systems Manager and report to HyperPod over HTTPS. "
        "A security group that lists its egress and leaves that out ends in a cluster that rolls back after "
        "hours, with lifecycle scripts that never ran."
    ),
    fix=(
        "add egress of TCP 443 to 0.0.0.0/0, or in an isolated network to the endpoints' group and the "
        "prefix list of S3; EfaSecurityGroup does"
    ),
    source="SageMaker developer guide, sagemaker-hyperpod-prerequisites (security groups)",
    check=check,
)
