"""The network of a cluster: one zone, one subnet for all nodes, and a guarded way out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from aws_cdk import Annotations, Aws, CfnTag, Fn, RemovalPolicy, Stack, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct, Dependable, DependencyGroup, IConstruct, IDependable

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import SUBNET, VPC, check_kind
from hyperpod_constructs.cluster_endpoints import ClusterEndpoints, check_endpoint_choice
from hyperpod_constructs.inline_handler import InlineHandler, resource_arn
from hyperpod_constructs.rotating_key import rotating_key
from hyperpod_constructs.tokens import known
from hyperpod_model.catalog.ports import TIERED_CHECKPOINTING
from hyperpod_model.checks.addresses import (
    PUBLIC_SUBNET_PREFIX_LENGTH,
    check_address_budget,
    check_subnet_ranges,
)
from hyperpod_model.checks.kubernetes import check_control_plane_zones
from hyperpod_model.checks.subnet_layout import (
    CONTROL_PLANE_SUBNET_PREFIX_LENGTH,
    CONTROL_PLANE_ZONES,
    ENDPOINT_SUBNET_PREFIX_LENGTH,
    SubnetLayout,
    check_subnet_layout,
    lay_out_subnets,
)
from hyperpod_model.checks.zones import check_availability_zone_id
from hyperpod_model.faults import UNKNOWN, Fault

_CLOSED_PORTS = " and ".join(str(ports) for ports in TIERED_CHECKPOINTING)
_PROTOCOL_NUMBERS = {"tcp": 6, "udp": 17}
_ALL_PROTOCOLS = -1
_EVERYWHERE: tuple[tuple[str, dict[str, str]], ...] = (
    ("Ipv4", {"cidr_block": "0.0.0.0/0"}),
    ("Ipv6", {"ipv6_cidr_block": "::/0"}),
)
_KEY_USE = ("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*")
_FIRST_DENY = 100
_FIRST_ALLOW = 1000

EXISTING_ACL_WARNING = "hyperpod:ClusterNetwork.existingNetworkAcl"
UNKNOWN_SIZE_WARNING = "hyperpod:ClusterNetwork.unknownSubnetSize"
UNLISTED_ZONE_WARNING = "hyperpod:ClusterNetwork.unlistedZone"
FLOW_LOG_BUCKET_WARNING = "hyperpod:ClusterNetwork.flowLogBucketPolicy"


class ClusterNetworkBase(Construct):
    """A network that a cluster can stand in, made or existing.

    Attributes:
        vpc: The VPC. Whatever depends on it waits for the way out to work.
        accelerator_subnet: The private subnet of all nodes.
        accelerator_subnet_cidr: Its IPv4 range. None where it is not known.
        control_plane_subnets: Private subnets for an EKS control plane. Empty where none are made.
        endpoints: The VPC endpoints of an isolated network. None for another, or one that is not ours.
    """

    vpc: ec2.IVpc
    accelerator_subnet: ec2.ISubnet
    accelerator_subnet_cidr: str | None
    control_plane_subnets: tuple[ec2.ISubnet, ...] = ()
    endpoints: ClusterEndpoints | None = None

    def check_capacity(
        self,
        *,
        groups: Sequence[tuple[str, str, int]],
        orchestrator: Literal["slurm", "eks"] = "slurm",
        other_addresses: int = 0,
        addresses_per_node: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Refuse instance groups whose nodes do not all get an address in the accelerator subnet.

        Args:
            groups: Name, instance type and count of each instance group. Tokens pass.
            orchestrator: ``slurm`` or ``eks``; nodes of EKS take addresses for their pods as well.
            other_addresses: Addresses that file systems and endpoints take in the subnet; see
                ``hyperpod_model.checks.addresses.file_system_addresses``.
            addresses_per_node: Figures by instance type that replace the catalog's.

        Raises:
            InvalidInputError: With the prefix length that would do.
        """
        cidr = self.accelerator_subnet_cidr
        if cidr is None:
            Annotations.of(self).add_warning_v2(
                UNKNOWN_SIZE_WARNING,
                "whether the subnet has enough addresses for all nodes is not known; pass "
                "accelerator_subnet_cidr (network.subnet_cidr in a specification)",
            )
        faults = check_address_budget(
            groups=[(known(name), known(type_name), known(count)) for name, type_name, count in groups],
            orchestrator=orchestrator,
            prefix_length=UNKNOWN if cidr is None or Token.is_unresolved(cidr) else int(cidr.split("/")[1]),
            other_addresses=known(other_addresses),
            addresses_per_node=addresses_per_node,
        )
        self._refuse(fault._replace(path=("accelerator subnet",)) for fault in faults)

    def _refuse(self, faults: Iterable[Fault]) -> tuple[Fault, ...]:
        return refuse_arguments(f"cluster network '{self.node.path}'", faults)


class ClusterNetwork(ClusterNetworkBase):
    """A VPC with one private subnet for all nodes in one zone, and a NAT gateway or endpoints as its way out.

    The zone is pinned by id, so no look-up in the account is needed: the stack may be bound to an environment
    or to none. Subnets are L1 resources; other constructs get an ``IVpc`` and depend on routes, NAT gateway
    and network ACL when they depend on it or on its private subnet.

    - The accelerator subnet is the last of its size in the VPC, the public one the first of its size. All
      nodes, controller and login nodes included, belong in the accelerator subnet. Neither subnet hands out
      public addresses.
    - Nodes reach S3 through a gateway endpoint and all else through the NAT gateway.
    - The network ACL of the accelerator subnet denies the ports of managed tiered checkpointing (TCP 9200,
      UDP 9209-9240) to all that comes from outside the subnet, before anything else, and allows the rest both
      ways. Traffic within the subnet passes no ACL. Answers to the nodes' own connections are safe: Linux
      takes local ports from 32768 on, checkpointless training from 20000 on. A NAT gateway takes them from
      1024 on, but stands in the public subnet, which has no such ACL.
    - Flow logs of all traffic go to a log group with a role and a KMS key of its own, or to a bucket. Log
      group and key outlive the stack.
    - The default security group loses its rules through a custom resource. No CloudFormation property does
      that: the group comes with the VPC, and a template can add rules to it but not take any away. The rules
      go once, when the VPC is made; a drift afterwards is for AWS Config.

    With ``isolated`` there is no NAT gateway, no internet gateway and no public subnet, and no route leaves
    the VPC but that of the S3 gateway endpoint. Nodes reach the AWS services that their orchestrator needs
    through ``endpoints``; see ``ClusterEndpoints`` for what those let through. The interface endpoints stand
    in a subnet of their own, so that they take no address from the nodes. What nodes install comes from the
    account's buckets and registries then. Custom resources of this library run outside the VPC and are not
    affected. Give the nodes an ``EfaSecurityGroup(https_egress=False)`` with ``allow_endpoints(...)``.

    With ``control_plane_availability_zone_ids`` there are two private subnets for the network interfaces of
    an EKS control plane, which EKS asks for in two zones, while accelerators stay in one. They share the
    nodes' route table.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        availability_zone_id: Id of the zone, such as ``usw2-az1``: that of the training plan or the capacity
            reservation. Names such as ``us-west-2a`` are refused.
        vpc_cidr: IPv4 range of the VPC. Default ``10.0.0.0/16``.
        accelerator_subnet_prefix_length: Prefix length of the nodes' subnet, 16 to 28. Default 17, half of
            the default VPC, 32,763 usable addresses. Neither zone, prefix lengths nor ``isolated`` can be
            changed later: CloudFormation creates the new subnet first, and its range overlaps that of the old
            one.
        public_subnet_prefix_length: Prefix length of the NAT gateway's subnet, 16 to 28. Default 24. Not used
            in an isolated network.
        isolated: Whether the VPC has endpoints in place of a way to the internet. Default False.
        orchestrator: ``slurm`` or ``eks``: which endpoints an isolated network gets. Default ``eks`` with
            control-plane zones, else ``slurm``.
        optional_endpoints: Services that get an endpoint besides those that the orchestrator requires, such
            as ``fsx``. Only in an isolated network. None by default.
        endpoint_subnet_prefix_length: Prefix length of the endpoints' subnet in an isolated network, 16 to
            28. Default 24.
        control_plane_availability_zone_ids: Ids of two zones for an EKS control plane. None by default: no
            such subnets.
        control_plane_subnet_prefix_length: Prefix length of each, 24 to 28. Default 24.
        flow_log_bucket: Bucket for flow logs. None sends them to CloudWatch Logs.
        flow_log_retention: How long CloudWatch Logs keeps them. Default one year. Not used with a bucket.
        flow_log_key: KMS key of the log group. Default a new one with rotation. The key's policy must let
            ``logs.<region>`` use it; for a key of this app that is added. Not used with a bucket.

    Raises:
        InvalidInputError: For a zone name, a zone of another region, or ranges that AWS does not take.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        availability_zone_id: str,
        vpc_cidr: str = "10.0.0.0/16",
        accelerator_subnet_prefix_length: int = 17,
        public_subnet_prefix_length: int = PUBLIC_SUBNET_PREFIX_LENGTH,
        isolated: bool = False,
        orchestrator: Literal["slurm", "eks"] | None = None,
        optional_endpoints: Sequence[str] = (),
        endpoint_subnet_prefix_length: int = ENDPOINT_SUBNET_PREFIX_LENGTH,
        control_plane_availability_zone_ids: Sequence[str] = (),
        control_plane_subnet_prefix_length: int = CONTROL_PLANE_SUBNET_PREFIX_LENGTH,
        flow_log_bucket: s3.IBucket | None = None,
        flow_log_retention: logs.RetentionDays = logs.RetentionDays.ONE_YEAR,
        flow_log_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, id)
        self._check_zone(availability_zone_id)
        zones = self._check_control_plane_zones(control_plane_availability_zone_ids)
        if orchestrator is None:
            orchestrator = "eks" if zones else "slurm"
        self._check_endpoints(isolated, orchestrator, optional_endpoints)
        front_length = endpoint_subnet_prefix_length if isolated else public_subnet_prefix_length
        ranges = self._subnet_ranges(
            vpc_cidr,
            accelerator_subnet_prefix_length,
            ("endpoint_subnet_prefix_length" if isolated else "public_subnet_prefix_length", front_length),
            control_plane_subnet_prefix_length if zones else None,
        )
        self._vpc = ec2.CfnVPC(
            self,
            "Resource",
            cidr_block=vpc_cidr,
            enable_dns_support=True,
            enable_dns_hostnames=True,
            tags=self._name_tag(),
        )
        accelerator = self._add_subnet("Accelerator", ranges.accelerator, availability_zone_id)
        front = self._add_subnet("Endpoint" if isolated else "Public", ranges.front, availability_zone_id)
        accelerator_routes, accelerator_association = self._add_route_table("Accelerator", accelerator)
        public_routes: ec2.CfnRouteTable | None = None
        out: list[IConstruct] = []
        if not isolated:
            public_routes, out = self._add_way_out(accelerator_routes, front)
            s3_endpoint = ec2.CfnVPCEndpoint(
                self,
                "S3Endpoint",
                vpc_id=self._vpc.ref,
                vpc_endpoint_type="Gateway",
                service_name=f"com.amazonaws.{Aws.REGION}.s3",
                route_table_ids=[accelerator_routes.ref],
                tags=self._name_tag("s3"),
            )
            out.append(s3_endpoint)
        control_plane = [
            self._add_control_plane_subnet(number, cidr, zone, accelerator_routes)
            for number, (zone, cidr) in enumerate(zip(zones, ranges.control_plane, strict=True), start=1)
        ]
        ready: list[IConstruct] = [
            accelerator_association,
            *out,
            *(association for _, association in control_plane),
            *self._add_network_acl(accelerator),
        ]
        self.accelerator_subnet_cidr = ranges.accelerator
        vpc = partial(
            ec2.Vpc.from_vpc_attributes,
            self,
            "Vpc",
            vpc_id=self._vpc.ref,
            vpc_cidr_block=vpc_cidr,
            availability_zones=[accelerator.attr_availability_zone],
        )
        if public_routes is None:
            self.vpc = vpc(
                isolated_subnet_ids=[accelerator.ref],
                isolated_subnet_names=["Accelerator"],
                isolated_subnet_route_table_ids=[accelerator_routes.ref],
                isolated_subnet_ipv4_cidr_blocks=[ranges.accelerator],
            )
        else:
            self.vpc = vpc(
                private_subnet_ids=[accelerator.ref],
                private_subnet_names=["Accelerator"],
                private_subnet_route_table_ids=[accelerator_routes.ref],
                private_subnet_ipv4_cidr_blocks=[ranges.accelerator],
                public_subnet_ids=[front.ref],
                public_subnet_names=["Public"],
                public_subnet_route_table_ids=[public_routes.ref],
                public_subnet_ipv4_cidr_blocks=[ranges.front],
            )
        (self.accelerator_subnet,) = self.vpc.isolated_subnets if isolated else self.vpc.private_subnets
        self.public_subnet: ec2.ISubnet | None = None if isolated else self.vpc.public_subnets[0]
        self.control_plane_subnets = tuple(
            ec2.Subnet.from_subnet_attributes(
                self,
                f"ControlPlane{number}",
                subnet_id=made.ref,
                availability_zone=made.attr_availability_zone,
                ipv4_cidr_block=cidr,
                route_table_id=accelerator_routes.ref,
            )
            for number, ((made, _), cidr) in enumerate(
                zip(control_plane, ranges.control_plane, strict=True), start=1
            )
        )
        if isolated:
            self.endpoints = ClusterEndpoints(
                self,
                "Endpoints",
                vpc=self.vpc,
                subnets=[ec2.Subnet.from_subnet_id(self, "EndpointSubnetReference", front.ref)],
                route_table_ids=[accelerator_routes.ref],
                client_cidrs=[ranges.accelerator, *ranges.control_plane],
                orchestrator=orchestrator,
                optional_services=optional_endpoints,
            )
            ready += [self.endpoints.gateway, *self.endpoints.interface_endpoints.values()]
        _wait_for(self.vpc, ready)
        for subnet in (self.accelerator_subnet, *self.control_plane_subnets):
            _wait_for(subnet, ready)
        if self.public_subnet is not None:
            _wait_for(self.public_subnet, out[:2])
        self.flow_log_group: logs.LogGroup | None = None
        if flow_log_bucket is None:
            self._log_flows_to_cloud_watch(flow_log_retention, flow_log_key)
        else:
            self._log_flows_to_bucket(flow_log_bucket)
        self._close_default_security_group()

    @staticmethod
    def from_existing(
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        accelerator_subnet: ec2.ISubnet,
        accelerator_subnet_cidr: str | None = None,
    ) -> ClusterNetworkBase:
        """Use a network that somebody else made, and change nothing in it.

        Its network ACL stays as it is: a replaced ACL could cut off other tenants. Whether it closes the
        ports of managed tiered checkpointing cannot be seen from here, which leaves the warning
        ``hyperpod:ClusterNetwork.existingNetworkAcl`` to acknowledge with
        ``Annotations.of(...).acknowledge_warning``. Nor are flow logs, endpoints or the default security
        group looked at.

        Args:
            scope: Parent of the construct.
            id: Id within the parent.
            vpc: The VPC.
            accelerator_subnet: The subnet of all nodes: private, in the zone of their capacity, with a way to
                S3 and to the AWS APIs.
            accelerator_subnet_cidr: IPv4 range of the subnet, for the address budget. Known for a subnet of
                this app; without it ``check_capacity`` can only compare with the largest subnet there is, and
                warns.
        """
        return _ExistingNetwork(
            scope,
            id,
            vpc=vpc,
            accelerator_subnet=accelerator_subnet,
            accelerator_subnet_cidr=accelerator_subnet_cidr,
        )

    def _check_zone(self, availability_zone_id: str) -> None:
        if not isinstance(availability_zone_id, str):
            message = f"must be the id of an Availability Zone such as usw2-az1, got {availability_zone_id!r}"
            self._refuse([Fault(("availability_zone_id",), message)])
        faults = check_availability_zone_id(known(availability_zone_id), region=known(Stack.of(self).region))
        for warning in self._refuse(fault._replace(path=("availability_zone_id",)) for fault in faults):
            Annotations.of(self).add_warning_v2(UNLISTED_ZONE_WARNING, str(warning))

    def _check_control_plane_zones(self, zones: Sequence[str]) -> tuple[str, ...]:
        path = ("control_plane_availability_zone_ids",)
        if isinstance(zones, str) or not isinstance(zones, Sequence):
            self._refuse([Fault(path, f"must be a list of two Availability Zone ids, got {zones!r}")])
        if not zones:
            return ()
        faults = check_control_plane_zones(
            [known(zone) for zone in zones], region=known(Stack.of(self).region)
        )
        for warning in self._refuse(fault._replace(path=(*path, *fault.path)) for fault in faults):
            Annotations.of(self).add_warning_v2(UNLISTED_ZONE_WARNING, str(warning))
        return tuple(zones)

    def _check_endpoints(self, isolated: bool, orchestrator: str, services: Sequence[str]) -> None:
        faults = [
            fault._replace(path=("optional_endpoints", *fault.path[1:]))
            if fault.path[0] == "optional_services"
            else fault
            for fault in check_endpoint_choice(orchestrator, services)
        ]
        if not isinstance(isolated, bool):
            # A specification's "false" would be true.
            faults.append(Fault(("isolated",), f"must be True or False, got {isolated!r}"))
        elif services and not isolated:
            faults.append(
                Fault(
                    ("optional_endpoints",),
                    f"needs isolated=True, got {', '.join(map(str, services))} in a network with a NAT "
                    "gateway; leave them out, or add endpoints to network.vpc",
                )
            )
        self._refuse(faults)

    def _subnet_ranges(
        self,
        vpc_cidr: str,
        accelerator_length: int,
        front: tuple[str, int],
        control_plane_length: int | None,
    ) -> SubnetLayout:
        lengths = {"accelerator_subnet_prefix_length": accelerator_length, front[0]: front[1]}
        if control_plane_length is not None:
            lengths["control_plane_subnet_prefix_length"] = control_plane_length
        self._refuse(
            Fault((name,), "must be known at synthesis, got a token; ranges cannot be computed at deployment")
            for name, length in lengths.items()
            if Token.is_unresolved(length)
        )
        self._refuse(
            check_subnet_layout(
                vpc_cidr=known(vpc_cidr),
                accelerator_subnet_prefix_length=accelerator_length,
                front=front,
                control_plane_subnet_prefix_length=control_plane_length,
            )
        )
        if not Token.is_unresolved(vpc_cidr):
            return lay_out_subnets(
                vpc_cidr=vpc_cidr,
                accelerator_subnet_prefix_length=accelerator_length,
                front_prefix_length=front[1],
                control_plane_subnet_prefix_length=control_plane_length,
            )
        # Fn::Cidr cannot count from the top of a range it does not know: take the second block of the size.
        return SubnetLayout(
            accelerator=Fn.select(1, Fn.cidr(vpc_cidr, 2, str(32 - accelerator_length))),
            front=Fn.select(0, Fn.cidr(vpc_cidr, 1, str(32 - front[1]))),
            control_plane=self._control_plane_of_unknown_range(
                vpc_cidr, accelerator_length, front, control_plane_length
            ),
        )

    def _control_plane_of_unknown_range(
        self, vpc_cidr: str, accelerator_length: int, front: tuple[str, int], length: int | None
    ) -> tuple[str, ...]:
        """The beginnings of the second and third block of the larger size, below the accelerator subnet."""
        if length is None:
            return ()
        block = min(front[1], length)
        blocks = CONTROL_PLANE_ZONES + 1
        if blocks * 2 ** (32 - block) > 2 ** (32 - accelerator_length):
            self._refuse(
                [
                    Fault(
                        ("accelerator_subnet_prefix_length",),
                        f"must leave room for {front[0]} /{front[1]} and {CONTROL_PLANE_ZONES} x "
                        f"control_plane_subnet_prefix_length /{length} before it where vpc_cidr is a token, "
                        f"got {accelerator_length}; use {block - 2} or shorter, or a literal vpc_cidr",
                    )
                ]
            )
        found = Fn.cidr(vpc_cidr, blocks, str(32 - block))
        return tuple(
            Fn.select(0, Fn.cidr(Fn.select(number, found), 1, str(32 - length)))
            for number in range(1, blocks)
        )

    def _name_tag(self, suffix: str | None = None) -> list[CfnTag]:
        name = self.node.path if suffix is None else f"{self.node.path}/{suffix}"
        return [CfnTag(key="Name", value=name)]

    def _add_subnet(self, name: str, cidr: str, availability_zone_id: str) -> ec2.CfnSubnet:
        return ec2.CfnSubnet(
            self,
            f"{name}Subnet",
            vpc_id=self._vpc.ref,
            availability_zone_id=availability_zone_id,
            cidr_block=cidr,
            map_public_ip_on_launch=False,
            tags=self._name_tag(name.lower()),
        )

    def _add_route_table(
        self, name: str, subnet: ec2.CfnSubnet
    ) -> tuple[ec2.CfnRouteTable, ec2.CfnSubnetRouteTableAssociation]:
        table = ec2.CfnRouteTable(
            self, f"{name}RouteTable", vpc_id=self._vpc.ref, tags=self._name_tag(name.lower())
        )
        association = ec2.CfnSubnetRouteTableAssociation(
            self, f"{name}RouteTableAssociation", route_table_id=table.ref, subnet_id=subnet.ref
        )
        return table, association

    def _add_control_plane_subnet(
        self, number: int, cidr: str, availability_zone_id: str, routes: ec2.CfnRouteTable
    ) -> tuple[ec2.CfnSubnet, ec2.CfnSubnetRouteTableAssociation]:
        subnet = self._add_subnet(f"ControlPlane{number}", cidr, availability_zone_id)
        association = ec2.CfnSubnetRouteTableAssociation(
            self,
            f"ControlPlane{number}RouteTableAssociation",
            route_table_id=routes.ref,
            subnet_id=subnet.ref,
        )
        return subnet, association

    def _add_way_out(
        self, accelerator_routes: ec2.CfnRouteTable, public: ec2.CfnSubnet
    ) -> tuple[ec2.CfnRouteTable, list[IConstruct]]:
        """The internet gateway behind the public subnet and the NAT gateway behind that of the nodes."""
        public_routes, public_association = self._add_route_table("Public", public)
        attachment = self._add_internet_gateway()
        public_route = ec2.CfnRoute(
            self,
            "PublicInternetRoute",
            route_table_id=public_routes.ref,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=attachment.internet_gateway_id,
        )
        public_route.node.add_dependency(attachment)
        nat_gateway = self._add_nat_gateway(public, after=(attachment, public_route, public_association))
        accelerator_route = ec2.CfnRoute(
            self,
            "AcceleratorInternetRoute",
            route_table_id=accelerator_routes.ref,
            destination_cidr_block="0.0.0.0/0",
            nat_gateway_id=nat_gateway.ref,
        )
        return public_routes, [public_association, public_route, nat_gateway, accelerator_route]

    def _add_internet_gateway(self) -> ec2.CfnVPCGatewayAttachment:
        gateway = ec2.CfnInternetGateway(self, "InternetGateway", tags=self._name_tag())
        return ec2.CfnVPCGatewayAttachment(
            self, "InternetGatewayAttachment", vpc_id=self._vpc.ref, internet_gateway_id=gateway.ref
        )

    def _add_nat_gateway(self, public: ec2.CfnSubnet, *, after: Iterable[IDependable]) -> ec2.CfnNatGateway:
        address = ec2.CfnEIP(self, "NatAddress", domain="vpc", tags=self._name_tag("nat"))
        gateway = ec2.CfnNatGateway(
            self,
            "NatGateway",
            subnet_id=public.ref,
            allocation_id=address.attr_allocation_id,
            tags=self._name_tag("nat"),
        )
        for dependency in after:
            address.node.add_dependency(dependency)
            gateway.node.add_dependency(dependency)
        return gateway

    def _add_network_acl(self, accelerator: ec2.CfnSubnet) -> list[IConstruct]:
        acl = ec2.CfnNetworkAcl(
            self, "AcceleratorNetworkAcl", vpc_id=self._vpc.ref, tags=self._name_tag("accelerator")
        )
        entries: list[IConstruct] = []

        def add(name: str, number: int, action: str, *, egress: bool, protocol: int, **options: Any) -> None:
            entry = ec2.CfnNetworkAclEntry(
                acl,
                name,
                network_acl_id=acl.ref,
                rule_number=number,
                rule_action=action,
                egress=egress,
                protocol=protocol,
                **options,
            )
            entries.append(entry)

        number = _FIRST_DENY
        for ports in TIERED_CHECKPOINTING:
            for family, anywhere in _EVERYWHERE:
                add(
                    f"Deny{ports.protocol.capitalize()}{ports.first}{family}",
                    number,
                    "deny",
                    egress=False,
                    protocol=_PROTOCOL_NUMBERS[ports.protocol],
                    port_range=ec2.CfnNetworkAclEntry.PortRangeProperty(from_=ports.first, to=ports.last),
                    **anywhere,
                )
                number += 1
        for egress in (False, True):
            for offset, (family, anywhere) in enumerate(_EVERYWHERE):
                add(
                    f"Allow{'Outbound' if egress else 'Inbound'}{family}",
                    _FIRST_ALLOW + offset,
                    "allow",
                    egress=egress,
                    protocol=_ALL_PROTOCOLS,
                    **anywhere,
                )
        association = ec2.CfnSubnetNetworkAclAssociation(
            self, "AcceleratorNetworkAclAssociation", network_acl_id=acl.ref, subnet_id=accelerator.ref
        )
        # An ACL without entries denies everything: only a complete one may take the place of the default.
        for entry in entries:
            association.node.add_dependency(entry)
        return [association]

    def _log_flows_to_cloud_watch(self, retention: logs.RetentionDays, key: kms.IKey | None) -> None:
        if key is None:
            key = rotating_key(self, "FlowLogKey", description=f"Flow logs of {self.node.path}")
        key.add_to_resource_policy(_logs_may_use_key())
        group = logs.LogGroup(
            self,
            "FlowLogGroup",
            retention=retention,
            encryption_key=key,
            removal_policy=RemovalPolicy.RETAIN,
        )
        role = iam.CfnRole(
            self,
            "FlowLogRole",
            description="Delivers VPC flow logs to their log group",
            assume_role_policy_document={
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": "sts:AssumeRole",
                        "Principal": {"Service": "vpc-flow-logs.amazonaws.com"},
                        "Condition": _deliveries_of("ec2", "vpc-flow-log/*"),
                    }
                ],
            },
        )
        policy = iam.CfnManagedPolicy(
            self,
            "FlowLogPolicy",
            description="Delivers VPC flow logs to their log group",
            roles=[role.ref],
            policy_document={
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": [
                            "logs:CreateLogStream",
                            "logs:DescribeLogGroups",
                            "logs:DescribeLogStreams",
                            "logs:PutLogEvents",
                        ],
                        "Resource": group.log_group_arn,
                    }
                ],
            },
        )
        flow_log = ec2.CfnFlowLog(
            self,
            "FlowLog",
            resource_type="VPC",
            resource_id=self._vpc.ref,
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_group_name=group.log_group_name,
            deliver_logs_permission_arn=role.attr_arn,
            max_aggregation_interval=60,
            tags=self._name_tag(),
        )
        flow_log.node.add_dependency(policy)
        self.flow_log_group = group

    def _log_flows_to_bucket(self, bucket: s3.IBucket) -> None:
        delivery = iam.ServicePrincipal("delivery.logs.amazonaws.com")
        conditions = _deliveries_of("logs", "*")
        write_conditions = {
            **conditions,
            "StringEquals": {**conditions["StringEquals"], "s3:x-amz-acl": "bucket-owner-full-control"},
        }
        # Without these EC2 writes a bucket policy of its own, which the stack does not know and overwrites.
        written = [
            bucket.add_to_resource_policy(
                iam.PolicyStatement(
                    sid="FlowLogDeliveryWrite",
                    principals=[delivery],
                    actions=["s3:PutObject"],
                    resources=[bucket.arn_for_objects(f"AWSLogs/{Aws.ACCOUNT_ID}/*")],
                    conditions=write_conditions,
                )
            ),
            bucket.add_to_resource_policy(
                iam.PolicyStatement(
                    sid="FlowLogDeliveryCheck",
                    principals=[delivery],
                    actions=["s3:GetBucketAcl"],
                    resources=[bucket.bucket_arn],
                    conditions=conditions,
                )
            ),
        ]
        flow_log = ec2.CfnFlowLog(
            self,
            "FlowLog",
            resource_type="VPC",
            resource_id=self._vpc.ref,
            traffic_type="ALL",
            log_destination_type="s3",
            log_destination=bucket.bucket_arn,
            max_aggregation_interval=60,
            tags=self._name_tag(),
        )
        if not all(result.statement_added for result in written):
            Annotations.of(self).add_warning_v2(
                FLOW_LOG_BUCKET_WARNING,
                f"the policy of the imported bucket '{bucket.node.path}' cannot be changed here; make sure "
                "that it lets delivery.logs.amazonaws.com put objects and read the bucket's ACL, and its "
                "KMS key encrypt",
            )
        for result in written:
            if result.policy_dependable is not None:
                flow_log.node.add_dependency(result.policy_dependable)
        if bucket.encryption_key is not None:
            bucket.encryption_key.add_to_resource_policy(
                iam.PolicyStatement(
                    sid="FlowLogDelivery",
                    principals=[delivery],
                    actions=list(_KEY_USE),
                    resources=["*"],
                    conditions=conditions,
                )
            )

    def _close_default_security_group(self) -> None:
        group_id = self._vpc.attr_default_security_group
        handler = InlineHandler(
            self,
            "DefaultSecurityGroupHandler",
            handler="close_default_security_group",
            description="Takes all rules out of the default security group of a cluster network",
            timeout_seconds=60,
            statements=[
                {
                    "Sid": "ReadRules",
                    "Effect": "Allow",
                    "Action": "ec2:DescribeSecurityGroups",
                    "Resource": "*",
                },
                {
                    "Sid": "RevokeRules",
                    "Effect": "Allow",
                    "Action": ["ec2:RevokeSecurityGroupEgress", "ec2:RevokeSecurityGroupIngress"],
                    "Resource": resource_arn("ec2", f"security-group/{group_id}"),
                },
            ],
        )
        handler.custom_resource(
            self,
            "ClosedDefaultSecurityGroup",
            resource_type="Custom::ClosedDefaultSecurityGroup",
            properties={"GroupId": group_id},
        )


class _ExistingNetwork(ClusterNetworkBase):
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        accelerator_subnet: ec2.ISubnet,
        accelerator_subnet_cidr: str | None,
    ) -> None:
        super().__init__(scope, id)
        self._refuse(
            [
                *check_kind(vpc, VPC, ("vpc",), required=True),
                *check_kind(accelerator_subnet, SUBNET, ("accelerator_subnet",), required=True),
            ]
        )
        self.vpc = vpc
        self.accelerator_subnet = accelerator_subnet
        if accelerator_subnet_cidr is None and isinstance(accelerator_subnet, ec2.Subnet):
            accelerator_subnet_cidr = accelerator_subnet.ipv4_cidr_block
        if accelerator_subnet_cidr is not None:
            faults = check_subnet_ranges(vpc_cidr=known(accelerator_subnet_cidr), prefix_lengths={})
            self._refuse(fault._replace(path=("accelerator_subnet_cidr",)) for fault in faults)
        self.accelerator_subnet_cidr = accelerator_subnet_cidr
        Annotations.of(self).add_warning_v2(
            EXISTING_ACL_WARNING,
            f"the network ACL of the existing subnet '{accelerator_subnet.node.path}' is left as it is; make "
            f"sure that its first inbound rules deny {_CLOSED_PORTS} (managed tiered checkpointing) from "
            "outside the subnet",
        )


class _Roots(Dependable):
    def __init__(self, roots: Sequence[IConstruct]) -> None:
        super().__init__()
        self._roots = list(roots)

    @property
    def dependency_roots(self) -> list[IConstruct]:
        return self._roots


def _wait_for(network: ec2.IVpc | ec2.ISubnet, roots: Sequence[IConstruct]) -> None:
    """Let whatever depends on an imported VPC or subnet depend on the resources that make it work."""
    Dependable.implement(network, _Roots(roots))
    established = network.internet_connectivity_established
    if isinstance(established, DependencyGroup):
        established.add(*roots)


def _logs_may_use_key() -> iam.PolicyStatement:
    log_groups = f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}:log-group:*"
    return iam.PolicyStatement(
        sid="CloudWatchLogs",
        principals=[iam.ServicePrincipal(f"logs.{Aws.REGION}.{Aws.URL_SUFFIX}")],
        actions=list(_KEY_USE),
        resources=["*"],
        conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": log_groups}},
    )


def _deliveries_of(service: str, resource: str) -> dict[str, dict[str, str]]:
    return {
        "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
        "ArnLike": {"aws:SourceArn": resource_arn(service, resource)},
    }
