"""Security-group rules between the control plane of an EKS cluster and its nodes."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import CfnResource, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

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
    scope_id = f"Rules{_name(nodes, beside=scope)}"
    existing = scope.node.try_find_child(scope_id)
    if isinstance(existing, Construct):
        return existing
    rules = Construct(scope, scope_id)
    _open(rules, "ToControlPlane", nodes, control_plane, HTTPS, "Kubernetes API, from nodes")
    to_nodes = sorted({*EKS_CONTROL_PLANE, *webhooks})
    _open(rules, "ToNodes", control_plane, nodes, to_nodes, "Kubelet, DNS, webhooks, from control plane")
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
    return _open(
        scope, "KubectlToControlPlane", kubectl, control_plane, HTTPS, "Kubernetes API, from kubectl"
    )


def _open(
    scope: Construct,
    name: str,
    source: ec2.ISecurityGroup,
    target: ec2.ISecurityGroup,
    ports: Iterable[PortRange],
    description: str,
) -> list[CfnResource]:
    rules: list[CfnResource] = []
    for protocol, first, last in ports:
        suffix = f"{protocol.capitalize()}{first}"
        ingress = ec2.CfnSecurityGroupIngress(
            scope,
            f"{name}Ingress{suffix}",
            group_id=target.security_group_id,
            source_security_group_id=source.security_group_id,
            ip_protocol=protocol,
            from_port=first,
            to_port=last,
            description=description,
        )
        egress = ec2.CfnSecurityGroupEgress(
            scope,
            f"{name}Egress{suffix}",
            group_id=source.security_group_id,
            destination_security_group_id=target.security_group_id,
            ip_protocol=protocol,
            from_port=first,
            to_port=last,
            description=description,
        )
        rules += [ingress, egress]
    return rules


def _name(group: ec2.ISecurityGroup, *, beside: Construct) -> str:
    """The group's path within its stack, with the stack's id only where the stacks differ."""
    stack = Stack.of(group)
    within = group.node.path.removeprefix(stack.node.path).strip("/").replace("/", "-")
    return within if stack.node.path == Stack.of(beside).node.path else f"{stack.node.id}-{within}"
