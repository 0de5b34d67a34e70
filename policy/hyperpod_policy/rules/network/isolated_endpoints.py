"""An isolated network has the VPC endpoints that its cluster calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_model.catalog.endpoints import ENDPOINTS, Endpoint, required_endpoints
from hyperpod_model.catalog.metrics import HYPERPOD_OBSERVABILITY
from hyperpod_policy.clusters import orchestrator
from hyperpod_policy.isolated_networks import IsolatedSubnet, endpoints_of, isolated_subnets, serves
from hyperpod_policy.networks import vpc_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import truth

_ADD_ON: Final = "AWS::EKS::Addon"
_FIGURES: Final = ENDPOINTS["aps-workspaces"]


def check(template: Template) -> Iterator[Verdict]:
    """Judge each subnet of nodes without a way to the internet."""
    for isolated in isolated_subnets(template):
        verdicts = [*_judge(template, isolated)]
        yield from verdicts if verdicts else [passed(isolated.subnet)]


def _judge(template: Template, isolated: IsolatedSubnet) -> Iterator[Verdict]:
    required = required_endpoints(orchestrator(isolated.used.cluster))
    present = endpoints_of(template, isolated.subnet)
    missing = [found.service for found in required if found.service not in present]
    allowed = f"endpoints for {', '.join(found.service for found in required)}"
    if missing:
        answer = undetermined if vpc_of(template, isolated.subnet) is None else failed
        yield answer(
            isolated.subnet,
            found=f"nodes have no way to the internet, and no endpoint for {', '.join(missing)}",
            allowed=allowed,
        )
    figures = (_FIGURES,) if _is_measured(template) else ()
    if figures and _FIGURES.service not in present:
        found = f"{HYPERPOD_OBSERVABILITY.name} has no endpoint for {_FIGURES.service}: no figure arrives"
        allowed = f"an endpoint for {_FIGURES.service}"
        if vpc_of(template, isolated.subnet) is None:
            yield undetermined(isolated.subnet, found=found, allowed=allowed)
        else:
            yield failed(isolated.subnet, found=found, allowed=allowed, severity="warning")
    for one in (*required, *figures):
        if one.service in present:
            yield from _usable(one, present[one.service], isolated)


def _is_measured(template: Template) -> bool:
    """Whether an add-on sends figures to Prometheus from pods of the cluster."""
    return any(one.get("AddonName") == HYPERPOD_OBSERVABILITY.name for one in template.of_type(_ADD_ON))


def _usable(found: Endpoint, endpoint: Resource, isolated: IsolatedSubnet) -> Iterator[Verdict]:
    if endpoint.get("VpcEndpointType", default="Gateway") == "Gateway":
        served = serves(endpoint, isolated)
        if served is not True:
            answer = undetermined if served is None else failed
            yield answer(
                endpoint,
                "RouteTableIds",
                found=f"has no routes in the tables of {isolated.subnet.logical_id}",
                allowed="all route tables of the nodes' subnets",
            )
    elif found.kind == "Interface" and truth(endpoint.get("PrivateDnsEnabled", default=True)) is False:
        yield failed(
            endpoint,
            "PrivateDnsEnabled",
            found=f"is off, so nodes look for {found.service} on the internet",
            allowed="private DNS on",
        )


RULE = Rule(
    id="IsolatedEndpoints",
    title="an isolated network has the VPC endpoints that its cluster calls",
    severity="error",
    why=(
        "Nodes without internet access reach AWS through VPC endpoints alone. Each one that is missing shows "
        "late and elsewhere: scripts that are not found, images that are not pulled, pods without "
        "credentials, a cluster that rolls back after hours."
    ),
    fix="add the endpoints, with private DNS; ClusterNetwork(isolated=True) has them all",
    source="EKS user guide, private-clusters; SageMaker developer guide, sagemaker-hyperpod-prerequisites",
    check=check,
)
