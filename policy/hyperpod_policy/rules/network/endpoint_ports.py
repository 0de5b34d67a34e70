"""Nodes without a way to the internet reach their endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_model.catalog.endpoints import required_endpoints
from hyperpod_model.catalog.ports import HTTPS
from hyperpod_policy.clusters import distinct, orchestrator, security_groups
from hyperpod_policy.isolated_networks import IsolatedSubnet, endpoints_of, isolated_subnets
from hyperpod_policy.networks import vpc_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.security_groups import opens
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements, single

_PORTS = " and ".join(str(ports) for ports in HTTPS)


def check(template: Template) -> Iterator[Verdict]:
    """Judge the way from the nodes of each isolated subnet to the interface endpoints that they need."""
    judged: set[str] = set()
    for isolated in isolated_subnets(template):
        present = endpoints_of(template, isolated.subnet)
        for needed in required_endpoints(orchestrator(isolated.used.cluster)):
            endpoint = present.get(needed.service)
            if needed.kind == "Interface" and endpoint is not None and endpoint.key not in judged:
                judged.add(endpoint.key)
                yield _judge(template, isolated, endpoint)


def _judge(template: Template, isolated: IsolatedSubnet, endpoint: Resource) -> Verdict:
    nodes = [used.value for used, _ in distinct(security_groups(template))]
    own, complete = elements(endpoint.get("SecurityGroupIds"))
    own = [single(value) for value in own]
    path = ("SecurityGroupIds",)
    if complete and not own:
        return failed(
            endpoint,
            *path,
            found="is not set, so that the endpoint has the VPC's default group, which admits only its own",
            allowed=f"a security group that admits {_PORTS} from the nodes",
        )
    ranges = [isolated.subnet.get("CidrBlock")]
    admitted = [opens(template, own, "ingress", nodes, ports, addresses=ranges) for ports in HTTPS]
    sent = [
        opens(template, nodes, "egress", own, ports, addresses=_ranges_of(template, endpoint, isolated))
        for ports in HTTPS
    ]
    if False in admitted:
        found = f"admits no {_PORTS} from the nodes"
        return failed(endpoint, *path, found=found, allowed=f"{_PORTS} from the nodes")
    if False in sent:
        found = f"the nodes send no {_PORTS} to it"
        return failed(endpoint, *path, found=found, allowed=f"egress of the nodes at {_PORTS}")
    if None in admitted or None in sent:
        found = f"whether {_PORTS} is open from the nodes is not in this template"
        return undetermined(endpoint, *path, found=found, allowed=f"{_PORTS} from the nodes")
    return passed(endpoint, *path)


def _ranges_of(template: Template, endpoint: Resource, isolated: IsolatedSubnet) -> list[Any]:
    """Return the address ranges in which an endpoint has its interfaces, or that of its VPC."""
    subnets = [template.resource(value) for value in elements(endpoint.get("SubnetIds"))[0]]
    ranges = [subnet.get("CidrBlock") for subnet in subnets if subnet is not None]
    if ranges and len(ranges) == len(subnets):
        return ranges
    vpc = vpc_of(template, isolated.subnet)
    return [] if vpc is None else [vpc.get("CidrBlock")]


RULE = Rule(
    id="EndpointPorts",
    title="nodes without a way to the internet reach their VPC endpoints",
    severity="error",
    why=(
        "An endpoint that does not admit the nodes is as good as none: private DNS leads every call to it, "
        "and each hangs until it times out."
    ),
    fix=(
        "give the endpoints a security group that admits TCP 443 from the nodes' group, and let the nodes "
        "send to it; ClusterNetwork(isolated=True) does"
    ),
    source="AWS PrivateLink guide, interface endpoints (security groups)",
    check=check,
)
