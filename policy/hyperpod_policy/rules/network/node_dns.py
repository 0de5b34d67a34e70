"""Nodes can resolve the names they need."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.clusters import distinct, subnets
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.networks import SUBNET, vpc_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, same, truth


def check(template: Template) -> Iterator[Verdict]:
    """Judge each VPC of nodes that the template makes."""
    seen: set[str] = set()
    for used, _ in distinct(subnets(template)):
        subnet = template.resource(used.value, SUBNET)
        vpc = None if subnet is None else vpc_of(template, subnet)
        if vpc is None or vpc.key in seen:
            continue
        seen.add(vpc.key)
        verdicts = [*_judge(vpc, "EnableDnsSupport", True, "nodes resolve no name at all without it")]
        reason = _needs_host_names(template, vpc)
        if reason is not None:
            verdicts += _judge(vpc, "EnableDnsHostnames", False, reason)
        yield from verdicts if verdicts else [passed(vpc, "EnableDnsSupport")]


def _needs_host_names(template: Template, vpc: Resource) -> str | None:
    for endpoint in template.of_type("AWS::EC2::VPCEndpoint"):
        if same(endpoint.get("VpcId"), vpc.ref) and truth(endpoint.get("PrivateDnsEnabled", default=False)):
            return f"the private names of VPC endpoint {endpoint.logical_id} need it"
    found = lustre_file_systems(template)
    return f"the DNS name of file system {found[0].logical_id} needs it" if found else None


def _judge(vpc: Resource, member: str, default: bool, reason: str) -> Iterator[Verdict]:
    value = vpc.get(member, default=default)
    if isinstance(value, Unresolved):
        yield undetermined(vpc, member, found=f"is {value}", allowed=f"true: {reason}")
    elif truth(value) is not True:
        yield failed(vpc, member, found="is false", allowed=f"true: {reason}")


RULE = Rule(
    id="NodeDns",
    title="the VPC of the nodes resolves names",
    severity="error",
    why=(
        "Nodes find S3, Systems Manager and the file system by name. Without resolution lifecycle scripts "
        "fail with 'Could not resolve host' and mounts hang."
    ),
    fix="set EnableDnsSupport and EnableDnsHostnames of the VPC to true",
    source="VPC user guide, DNS attributes for your VPC; FSx for Lustre user guide, mounting file systems",
    check=check,
)
