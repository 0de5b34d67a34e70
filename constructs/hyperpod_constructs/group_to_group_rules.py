"""Rules by which the members of one security group reach those of another."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import CfnResource, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, IConstruct

from hyperpod_model.catalog.ports import PortRange


def open_one_way(
    scope: Construct,
    name: str,
    *,
    source: ec2.ISecurityGroup,
    target: ec2.ISecurityGroup,
    ports: Iterable[PortRange],
    description: str,
) -> list[CfnResource]:
    """Let a group open connections to another: ingress on the other, egress on itself.

    Args:
        scope: Parent of the rules.
        name: What the ids of the rules begin with, such as ``FromClients``.
        source: The group that opens connections.
        target: The group that is reached.
        ports: Where.
        description: What for; stands on the rules.

    Returns:
        The rules.
    """
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


def group_name(group: ec2.ISecurityGroup, *, beside: IConstruct) -> str:
    """The group's path within its stack, with the stack's id only where the stacks differ.

    Logical ids then stay the same wherever in an app the stack stands.

    Args:
        group: The group.
        beside: The construct in whose ids the name stands.
    """
    stack = Stack.of(group)
    within = group.node.path.removeprefix(stack.node.path).strip("/").replace("/", "-")
    return within if stack.node.path == Stack.of(beside).node.path else f"{stack.node.id}-{within}"
