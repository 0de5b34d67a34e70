"""Security-group rules between nodes and an FSx for Lustre file system."""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_constructs.group_to_group_rules import group_name
from hyperpod_model.catalog.ports import LUSTRE, PortRange

_ALL_TRAFFIC: tuple[PortRange | None, ...] = (None,)


def allow_between(
    clients: ec2.ISecurityGroup, file_system: ec2.ISecurityGroup, *, all_traffic: bool = False
) -> Construct:
    """Open the way between two groups, in both directions and on both of them.

    The rules live below the file system's group, or in its stack if it is imported: a file system in another
    stack than its clients then depends on the clients' stack, never the other way round.

    Args:
        clients: Group of the nodes that mount the file system.
        file_system: Group of the file system's network interfaces.
        all_traffic: Whether to open all traffic, as EFA-enabled file systems need, instead of the Lustre
            ports.

    Returns:
        The construct that holds the rules. Asked again for the same pair, the same construct.
    """
    kind = "Efa" if all_traffic else "Lustre"
    scope, scope_id = _place(file_system, f"{kind}Rules{group_name(clients, beside=file_system)}")
    existing = scope.node.try_find_child(scope_id)
    if isinstance(existing, Construct):
        return existing
    rules = Construct(scope, scope_id)
    ports = _ALL_TRAFFIC if all_traffic else LUSTRE
    _open(
        rules,
        "FromClients",
        opened=file_system,
        peer=clients,
        ports=ports,
        description="Lustre from its clients",
    )
    _open(
        rules,
        "ToClients",
        opened=clients,
        peer=file_system,
        ports=ports,
        description="Lustre with its clients",
    )
    return rules


def allow_within(file_system: ec2.ISecurityGroup, *, all_traffic: bool = False) -> Construct:
    """Open the way between the servers of one file system.

    Args:
        file_system: Group of the file system's network interfaces.
        all_traffic: Whether to open all traffic, as EFA-enabled file systems need, instead of the Lustre
            ports.

    Returns:
        The construct that holds the rules.
    """
    rules = Construct(*_place(file_system, "WithinRules"))
    ports = _ALL_TRAFFIC if all_traffic else LUSTRE
    _open(
        rules,
        "Itself",
        opened=file_system,
        peer=file_system,
        ports=ports,
        description="Lustre between its servers",
    )
    return rules


def _place(group: ec2.ISecurityGroup, id: str) -> tuple[Construct, str]:
    """The group, or its stack for an imported one, which jsii hands out as an interface without children."""
    if isinstance(group, Construct):
        return group, id
    return Stack.of(group), f"{group_name(group, beside=group)}{id}"


def _open(
    scope: Construct,
    name: str,
    *,
    opened: ec2.ISecurityGroup,
    peer: ec2.ISecurityGroup,
    ports: tuple[PortRange | None, ...],
    description: str,
) -> None:
    for port_range in ports:
        suffix = "All" if port_range is None else f"{port_range.protocol.capitalize()}{port_range.first}"
        protocol = "-1" if port_range is None else port_range.protocol
        first = None if port_range is None else port_range.first
        last = None if port_range is None else port_range.last
        ec2.CfnSecurityGroupIngress(
            scope,
            f"{name}Ingress{suffix}",
            group_id=opened.security_group_id,
            source_security_group_id=peer.security_group_id,
            ip_protocol=protocol,
            from_port=first,
            to_port=last,
            description=description,
        )
        ec2.CfnSecurityGroupEgress(
            scope,
            f"{name}Egress{suffix}",
            group_id=opened.security_group_id,
            destination_security_group_id=peer.security_group_id,
            ip_protocol=protocol,
            from_port=first,
            to_port=last,
            description=description,
        )
