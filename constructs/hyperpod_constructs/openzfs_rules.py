"""Security-group rules between nodes and an FSx for OpenZFS file system."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_constructs.group_to_group_rules import group_name, open_one_way
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
    open_one_way(
        rules,
        "FromClients",
        source=clients,
        target=file_system,
        ports=OPENZFS,
        description="OpenZFS from its clients",
    )
    return rules
