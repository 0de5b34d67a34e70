"""What network interfaces in some subnets and security groups reach, by moto's EC2."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, ip_network
from typing import Any, Final, Literal

from moto.ec2.models import ec2_backends
from moto.ec2.models.security_groups import SecurityGroupRule

from aws_double import ACCOUNT
from hyperpod_model.catalog.ports import PortRange

ALL_TRAFFIC: Final = "all traffic"
"""In place of a range of ports: what EFA needs."""

Wanted = PortRange | Literal["all traffic"]
Direction = Literal["ingress", "egress"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where network interfaces are.

    Attributes:
        subnets: Ids of their subnets, any of which one may be in.
        groups: Ids of the security groups that all of them have.
    """

    subnets: tuple[str, ...]
    groups: tuple[str, ...]


class NetworkView:
    """The network of a region as it is now.

    Args:
        region: The region.
    """

    def __init__(self, region: str) -> None:
        self._ec2: Any = ec2_backends[ACCOUNT][region]

    def absent(self, place: Place) -> list[str]:
        """Return the ids of subnets and groups that do not exist."""
        subnets = [id for id in place.subnets if self.subnet(id) is None]
        return subnets + [id for id in place.groups if self.group(id) is None]

    def subnet(self, subnet_id: str) -> Any:
        """Return moto's subnet, or None."""
        for zone in self._ec2.subnets.values():
            if subnet_id in zone:
                return zone[subnet_id]
        return None

    def group(self, group_id: str) -> Any:
        """Return moto's security group, or None."""
        return self._ec2.get_security_group_from_id(group_id)

    def default_group(self, vpc_id: str) -> str:
        """Return the id of a VPC's default security group."""
        return str(self._ec2.get_default_security_group(vpc_id).id)

    def interface(self, subnet_id: str, groups: Sequence[str], description: str) -> str:
        """Make a network interface of a service, and return its id."""
        made = self._ec2.create_network_interface(
            self.subnet(subnet_id), None, group_ids=list(groups), description=description
        )
        return str(made.id)

    def make_cluster_group(self, vpc_id: str, cluster: str) -> str:
        """Make the group that EKS makes for a cluster, open to itself, and return its id."""
        made = self._ec2.create_security_group(
            f"eks-cluster-sg-{cluster}-{secrets.token_hex(4)}",
            "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, "
            "as well as any managed workloads.",
            vpc_id,
        )
        for rules, is_egress in ((made.ingress_rules, False), (made.egress_rules, True)):
            itself = {"GroupId": made.id, "OwnerId": ACCOUNT}
            rules.append(
                SecurityGroupRule(self._ec2, "-1", made.id, None, None, None, itself, is_egress=is_egress)
            )
        return str(made.id)

    def delete_group(self, group_id: str) -> None:
        """Delete a group that a service made."""
        for groups in self._ec2.groups.values():
            groups.pop(group_id, None)

    def vpcs(self, place: Place) -> set[str]:
        """Return the ids of the VPCs of existing subnets and groups."""
        subnets = [self.subnet(id) for id in place.subnets]
        return {found.vpc_id for found in [*subnets, *map(self.group, place.groups)] if found is not None}

    def without_self_rule(self, group_id: str, direction: Direction) -> bool:
        """Tell whether a group lacks the rule of all traffic that names the group itself, as EFA needs."""
        return not any(
            rule.ip_protocol == "-1" and _peer_group(rule) == group_id
            for rule in _rules(self.group(group_id), direction)
        )

    def blocked(self, source: Place, target: Place, wanted: Iterable[Wanted]) -> list[str]:
        """Say what keeps one place from opening connections to another.

        The rules of all groups of an interface count together. An address range counts only if it covers a
        whole subnet of the peer, and never for all traffic: EFA matches groups alone.
        """
        found = []
        for ports in wanted:
            sides: tuple[tuple[Direction, Place, Place], ...] = (
                ("egress", source, target),
                ("ingress", target, source),
            )
            for direction, owner, peer in sides:
                if not any(
                    self._admits(rule, ports, peer)
                    for group_id in owner.groups
                    for rule in _rules(self.group(group_id), direction)
                ):
                    words = "to" if direction == "egress" else "from"
                    found.append(f"no {direction} of {ports} on {_names(owner)} {words} {_names(peer)}")
        return found

    def reaches_s3(self, subnet_id: str) -> bool:
        """Tell whether nodes without public addresses get from a subnet to S3.

        Through an endpoint for S3, or a default route to something that is no internet gateway.
        """
        subnet = self.subnet(subnet_id)
        table = self._route_table(subnet)
        for endpoint in self._ec2.vpc_end_points.values():
            if endpoint.vpc_id != subnet.vpc_id or endpoint.state != "available":
                continue
            if not endpoint.service_name.endswith(".s3"):
                continue
            if endpoint.vpc_endpoint_type == "Interface" or table.id in endpoint.route_table_ids:
                return True
        return any(
            route.destination_cidr_block == "0.0.0.0/0"
            and (route.nat_gateway or route.transit_gateway or route.interface or route.instance)
            for route in table.routes
        )

    def _route_table(self, subnet: Any) -> Any:
        tables = [table for table in self._ec2.route_tables.values() if table.vpc_id == subnet.vpc_id]
        for table in tables:
            if subnet.id in table._associations.values():
                return table
        return next(table for table in tables if table.main_association_id is not None)

    def _admits(self, rule: Any, ports: Wanted, peer: Place) -> bool:
        if rule.ip_protocol != "-1":
            if not isinstance(ports, PortRange) or rule.ip_protocol != ports.protocol:
                return False
            if rule.from_port > ports.first or rule.to_port < ports.last:
                return False
        if _peer_group(rule) is not None:
            return _peer_group(rule) in peer.groups
        address_range = rule.ip_range.get("CidrIp")
        if address_range is None or ports == ALL_TRAFFIC:
            return False
        return all(_covers(address_range, self.subnet(id)) for id in peer.subnets)


def _rules(group: Any, direction: Direction) -> Sequence[Any]:
    rules: Sequence[Any] = group.ingress_rules if direction == "ingress" else group.egress_rules
    return rules


def _peer_group(rule: Any) -> str | None:
    found: str | None = rule.source_group.get("GroupId")
    return found


def _covers(address_range: str, subnet: Any) -> bool:
    network, inner = ip_network(address_range), ip_network(subnet.cidr_block)
    return isinstance(network, IPv4Network) and isinstance(inner, IPv4Network) and inner.subnet_of(network)


def _names(place: Place) -> str:
    return ", ".join(place.groups)
