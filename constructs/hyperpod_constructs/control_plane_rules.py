"""Security-group rules between the control plane of an EKS cluster and its nodes."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import CfnResource
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_constructs.group_to_group_rules import group_name, open_one_way
from hyperpod_model.catalog.ports import EKS_CONTROL_PLANE, HTTPS, PortRange


def allow_control_plane(
    scope: Construct,
    *,
    control_plane: ec2.ISecurityGroup,
    nodes: ec2.ISecurityGroup,
    webhooks: Iterable[PortRange],
) -> Construct:
    """Open the documented ways between control plane and nodes, on both groups, and nothing wider.

    Nodes reach the Kubernetes API at TCP 443. The control plane reaches the nodes at TCP 443, 10250 (kubelet)
    and at port 53, and the webhooks of what runs on them. Source: EKS user guide, security group
    requirements.

    Args:
        scope: Parent of the rules.
        control_plane: Group of the control plane's network interfaces.
        nodes: Group of the nodes.
        webhooks: Ports on which pods serve webhooks.

    Returns:
        The construct that holds the rules. Asked again for the same nodes, the same construct.
    """
    scope_id = f"Rules{group_name(nodes, beside=scope)}"
    existing = scope.node.try_find_child(scope_id)
    if isinstance(existing, Construct):
        return existing
    rules = Construct(scope, scope_id)
    open_one_way(
        rules,
        "ToControlPlane",
        source=nodes,
        target=control_plane,
        ports=HTTPS,
        description="Kubernetes API, from nodes",
    )
    open_one_way(
        rules,
        "ToNodes",
        source=control_plane,
        target=nodes,
        ports=sorted({*EKS_CONTROL_PLANE, *webhooks}),
        description="Kubelet, DNS, webhooks, from control plane",
    )
    return rules


def allow_kubectl(
    scope: Construct, *, control_plane: ec2.ISecurityGroup, kubectl: ec2.ISecurityGroup
) -> list[CfnResource]:
    """Let the function that runs kubectl reach the Kubernetes API.

    Args:
        scope: Parent of the rules.
        control_plane: Group of the control plane's network interfaces.
        kubectl: Group of the function.

    Returns:
        The rules. What the function installs must depend on them, or they may go first when the stack is
        deleted.
    """
    return open_one_way(
        scope,
        "KubectlToControlPlane",
        source=kubectl,
        target=control_plane,
        ports=HTTPS,
        description="Kubernetes API, from kubectl",
    )
