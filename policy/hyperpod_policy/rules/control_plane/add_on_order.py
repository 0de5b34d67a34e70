"""Add-ons come in an order in which they can become active."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_model.catalog.add_ons import ADD_ONS, BEFORE_NODES, STATUS_WITHOUT_NODES
from hyperpod_policy.add_ons import AddOns, all_add_ons
from hyperpod_policy.dependencies import before, deployed_together
from hyperpod_policy.eks_clusters import Orchestration
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template

_NODES: Final = ("AWS::EKS::Nodegroup", "AWS::EKS::FargateProfile")
_AGENT: Final = "eks-pod-identity-agent"
_ORDER: Final = "first the add-ons that every node needs, then the HyperPod cluster, then the others"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the order of the add-ons of each HyperPod cluster."""
    for found in all_add_ons(template):
        verdicts = [*_around_nodes(template, found), *_among_themselves(found)]
        if verdicts:
            yield from verdicts
        elif found.by_name:
            yield passed(found.orchestration.cluster)


def _around_nodes(template: Template, found: AddOns) -> Iterator[Verdict]:
    cluster = found.orchestration.cluster
    ready = before(cluster)
    for name, add_on in found.by_name.items():
        if name not in ADD_ONS or not deployed_together(add_on, cluster):
            continue
        if name in BEFORE_NODES and add_on.key not in ready:
            yield failed(
                cluster,
                found=f"does not wait for {add_on.logical_id} ({name}), without which nodes are not ready",
                allowed=_ORDER,
            )
        elif (
            name not in BEFORE_NODES and add_on.key in ready and not _has_nodes(template, found.orchestration)
        ):
            status = STATUS_WITHOUT_NODES.assuming(because="the doubt is said")
            yield undetermined(
                add_on,
                found=f"{name} comes before there are nodes and is {status} until then; "
                f"{STATUS_WITHOUT_NODES.doubt}",
                allowed=_ORDER,
            )


def _among_themselves(found: AddOns) -> Iterator[Verdict]:
    for name, add_on in found.by_name.items():
        for needed in ADD_ONS[name].requires if name in ADD_ONS else ():
            other = found.by_name.get(needed)
            if needed == _AGENT and add_on.get("ServiceAccountRoleArn") is not None:
                continue  # it gets its role by the service account's token
            if other is None:
                yield undetermined(
                    add_on, found=f"{name} needs {needed}, which is not in this template", allowed=_ORDER
                )
            elif deployed_together(other, add_on) and other.key not in before(add_on):
                yield failed(
                    add_on,
                    found=f"{name} does not wait for {other.logical_id} ({needed}), which it needs",
                    allowed=_ORDER,
                )


def _has_nodes(template: Template, orchestration: Orchestration) -> bool:
    control_plane: Resource | None = orchestration.control_plane
    return control_plane is None or any(
        control_plane.key in before(nodes) for nodes in template.of_type(*_NODES)
    )


RULE = Rule(
    id="EksAddOnOrder",
    title="add-ons come in an order in which they can become active",
    severity="warning",
    why=(
        "CloudFormation knows references only, and add-ons have none to each other. An add-on that comes "
        "before what it needs waits until it times out, and nodes that come before the network add-ons "
        "stay NotReady."
    ),
    fix=(
        "let the HyperPod cluster depend on vpc-cni, kube-proxy and eks-pod-identity-agent, and the other "
        "add-ons on the HyperPod cluster and on what they need; EksControlPlane does both"
    ),
    source=(
        "SageMaker developer guide, sagemaker-eks-operator-install; EKS user guide, add-ons; CloudFormation "
        "user guide, DependsOn attribute"
    ),
    check=check,
)
