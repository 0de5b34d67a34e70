"""Security-group rules between nodes and an FSx for OpenZFS file system."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_constructs.lustre_rules import group_name
from hyperpod_model.catalog.ports import OPENZFS


def allow_openzfs_clients(clients: ec2.SecurityGroup, file_system: ec2.ISecurityGroup) -> Construct:
    """Let the members of a group mount a file system over NFS 4.1 or later.

    The clients open every connection; the file system answers and opens none. Source of the port: FSx for
    OpenZFS user guide, file system access control with Amazon VPC.

    Args:
        clients: Group of the nodes. The rules live below it.
        file_system: Group of the file system's network interfaces.

    Returns:
        The construct that holds the rules. Asked again for the same pair, the same construct.
    """
    scope_id = f"OpenZfsRules{group_name(file_system, beside=clients)}"
    existing = clients.node.try_find_child(scope_id)
    if isinstance(existing, Construct):
        return existing
    rules = Construct(clients, scope_id)
    for ports in OPENZFS:
        suffix = f"{ports.protocol.capitalize()}{ports.first}"
        ec2.CfnSecurityGroupIngress(
            rules,
            f"FromClientsIngress{suffix}",
            group_id=file_system.security_group_id,
            source_security_group_id=clients.security_group_id,
            ip_protocol=ports.protocol,
            from_port=ports.first,
            to_port=ports.last,
            description="OpenZFS from its clients",
        )
        ec2.CfnSecurityGroupEgress(
            rules,
            f"FromClientsEgress{suffix}",
            group_id=clients.security_group_id,
            destination_security_group_id=file_system.security_group_id,
            ip_protocol=ports.protocol,
            from_port=ports.first,
            to_port=ports.last,
            description="OpenZFS from its clients",
        )
    return rules
