"""Reads EC2 resources back. Tags that CloudFormation itself puts on are left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from read_back import Clients, reads
from read_back.narrowing import in_order, own_tags

# Of other protocols EC2 tells -1, where a template has nothing.
_WITH_PORTS = ("tcp", "udp", "icmp", "icmpv6")


@reads("AWS::EC2::VPC")
def vpc(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a VPC."""
    ec2 = clients.client("ec2")
    (found,) = ec2.describe_vpcs(VpcIds=[physical_id])["Vpcs"]
    attributes = {
        name: ec2.describe_vpc_attribute(VpcId=physical_id, Attribute=name[0].lower() + name[1:])[name][
            "Value"
        ]
        for name in ("EnableDnsSupport", "EnableDnsHostnames")
    }
    return {
        **_copied(found, "CidrBlock", "InstanceTenancy"),
        **attributes,
        **own_tags(found.get("Tags", []), wanted),
    }


@reads("AWS::EC2::Subnet")
def subnet(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a subnet."""
    (found,) = clients.client("ec2").describe_subnets(SubnetIds=[physical_id])["Subnets"]
    names = ("VpcId", "CidrBlock", "AvailabilityZone", "AvailabilityZoneId", "MapPublicIpOnLaunch")
    return {**_copied(found, *names), **own_tags(found.get("Tags", []), wanted)}


@reads("AWS::EC2::RouteTable")
def route_table(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a route table."""
    found = _route_table(clients, physical_id)
    return {**_copied(found, "VpcId"), **own_tags(found.get("Tags", []), wanted)}


@reads("AWS::EC2::SubnetRouteTableAssociation")
def subnet_route_table_association(
    clients: Clients, physical_id: str, _wanted: dict[str, Any]
) -> dict[str, Any]:
    """Read which table a subnet has."""
    filters = [{"Name": "association.route-table-association-id", "Values": [physical_id]}]
    (table,) = clients.client("ec2").describe_route_tables(Filters=filters)["RouteTables"]
    (found,) = (
        association
        for association in table["Associations"]
        if association["RouteTableAssociationId"] == physical_id
    )
    return _copied(found, "RouteTableId", "SubnetId")


@reads("AWS::EC2::Route")
def route(clients: Clients, physical_id: str, _wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a route that leads somewhere; a black hole is none."""
    table_id, destination = physical_id.split("|")
    destinations = ("DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId")
    (found,) = (
        route
        for route in _route_table(clients, table_id)["Routes"]
        if destination in [route.get(name) for name in destinations] and route["State"] == "active"
    )
    return {"RouteTableId": table_id, **_copied(found, *destinations, "GatewayId", "NatGatewayId")}


@reads("AWS::EC2::InternetGateway")
def internet_gateway(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read an internet gateway."""
    ec2 = clients.client("ec2")
    (found,) = ec2.describe_internet_gateways(InternetGatewayIds=[physical_id])["InternetGateways"]
    return own_tags(found.get("Tags", []), wanted)


@reads("AWS::EC2::VPCGatewayAttachment")
def vpc_gateway_attachment(clients: Clients, physical_id: str, _wanted: dict[str, Any]) -> dict[str, Any]:
    """Read which internet gateway a VPC has."""
    vpc_id = physical_id.removeprefix("IGW|")
    filters = [{"Name": "attachment.vpc-id", "Values": [vpc_id]}]
    (found,) = clients.client("ec2").describe_internet_gateways(Filters=filters)["InternetGateways"]
    return {"VpcId": vpc_id, **_copied(found, "InternetGatewayId")}


@reads("AWS::EC2::EIP")
def elastic_address(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a public address."""
    (found,) = clients.client("ec2").describe_addresses(PublicIps=[physical_id])["Addresses"]
    return {**_copied(found, "Domain"), **own_tags(found.get("Tags", []), wanted)}


@reads("AWS::EC2::NatGateway")
def nat_gateway(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a NAT gateway that works."""
    gateways = clients.client("ec2").describe_nat_gateways(NatGatewayIds=[physical_id])["NatGateways"]
    # EC2 goes on to tell of deleted ones for a while.
    (found,) = (gateway for gateway in gateways if gateway["State"] == "available")
    (address,) = found["NatGatewayAddresses"]
    return {
        **_copied(found, "SubnetId", "ConnectivityType"),
        **_copied(address, "AllocationId"),
        **own_tags(found.get("Tags", []), wanted),
    }


@reads("AWS::EC2::NetworkAcl")
def network_acl(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a network ACL."""
    found = _network_acl(clients, physical_id)
    return {**_copied(found, "VpcId"), **own_tags(found.get("Tags", []), wanted)}


@reads("AWS::EC2::NetworkAclEntry")
def network_acl_entry(clients: Clients, _physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read the entry with the number and direction that the template asks for."""
    acl_id, number, egress = wanted["NetworkAclId"], int(wanted["RuleNumber"]), wanted.get("Egress", False)
    (found,) = (
        entry
        for entry in _network_acl(clients, acl_id)["Entries"]
        if entry["RuleNumber"] == number and entry["Egress"] == egress
    )
    icmp = {"Icmp": found["IcmpTypeCode"]} if "IcmpTypeCode" in found else {}
    return {
        "NetworkAclId": acl_id,
        "Protocol": int(found["Protocol"]),
        **_copied(found, "RuleNumber", "Egress", "RuleAction", "CidrBlock", "Ipv6CidrBlock", "PortRange"),
        **icmp,
    }


@reads("AWS::EC2::SubnetNetworkAclAssociation")
def subnet_network_acl_association(
    clients: Clients, physical_id: str, _wanted: dict[str, Any]
) -> dict[str, Any]:
    """Read which network ACL a subnet has."""
    filters = [{"Name": "association.association-id", "Values": [physical_id]}]
    (acl,) = clients.client("ec2").describe_network_acls(Filters=filters)["NetworkAcls"]
    (found,) = (
        association
        for association in acl["Associations"]
        if association["NetworkAclAssociationId"] == physical_id
    )
    return _copied(found, "NetworkAclId", "SubnetId")


@reads("AWS::EC2::VPCEndpoint")
def vpc_endpoint(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read an endpoint, its subnets and groups from the interfaces that it has."""
    ec2 = clients.client("ec2")
    (found,) = ec2.describe_vpc_endpoints(VpcEndpointIds=[physical_id])["VpcEndpoints"]
    names = ("VpcId", "ServiceName", "VpcEndpointType", "PrivateDnsEnabled")
    told: dict[str, Any] = {**_copied(found, *names), **own_tags(found.get("Tags", []), wanted)}
    told["PolicyDocument"] = json.loads(found["PolicyDocument"])
    if found["VpcEndpointType"] == "Gateway":
        return {
            **told,
            "RouteTableIds": in_order(sorted(found["RouteTableIds"]), wanted.get("RouteTableIds", [])),
        }
    interfaces = ec2.describe_network_interfaces(NetworkInterfaceIds=found["NetworkInterfaceIds"])
    subnet_ids = [interface["SubnetId"] for interface in interfaces["NetworkInterfaces"]]
    group_ids = {group["GroupId"] for group in found["Groups"]}
    for interface in interfaces["NetworkInterfaces"]:
        group_ids &= {group["GroupId"] for group in interface["Groups"]}
    return {
        **told,
        "SubnetIds": in_order(sorted(subnet_ids), wanted.get("SubnetIds", [])),
        "SecurityGroupIds": in_order(sorted(group_ids), wanted.get("SecurityGroupIds", [])),
    }


@reads("AWS::EC2::FlowLog")
def flow_log(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a flow log that is delivered."""
    (found,) = clients.client("ec2").describe_flow_logs(FlowLogIds=[physical_id])["FlowLogs"]
    if found["DeliverLogsStatus"] != "SUCCESS":
        return {}
    names = (
        "DeliverLogsPermissionArn",
        "LogDestination",
        "LogDestinationType",
        "LogFormat",
        "LogGroupName",
        "MaxAggregationInterval",
        "ResourceId",
        "TrafficType",
    )
    # EC2 tells the id alone.
    kinds = {"vpc": "VPC", "subnet": "Subnet", "eni": "NetworkInterface"}
    kind = kinds[found["ResourceId"].partition("-")[0]]
    return {**_copied(found, *names), "ResourceType": kind, **own_tags(found.get("Tags", []), wanted)}


@reads("AWS::EC2::SecurityGroup")
def security_group(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a group, with those of the rules written within it that it has.

    Rules that are resources of their own are in the group as well. That there are no others is for the caller
    to see; ``group_rules`` reads all.
    """
    (found,) = clients.client("ec2").describe_security_groups(GroupIds=[physical_id])["SecurityGroups"]
    rules = group_rules(clients, physical_id)
    return {
        "GroupDescription": found["Description"],
        **_copied(found, "GroupName", "VpcId"),
        **own_tags(found.get("Tags", []), wanted),
        **{name: [rule for rule in wanted.get(name, []) if rule in rules[name]] for name in rules},
    }


@reads("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")
def security_group_rule(clients: Clients, physical_id: str, _wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a rule that is a resource of its own."""
    ec2 = clients.client("ec2")
    (found,) = ec2.describe_security_group_rules(SecurityGroupRuleIds=[physical_id])["SecurityGroupRules"]
    return {"GroupId": found["GroupId"], **_rule(found)}


def group_rules(clients: Clients, group_id: str) -> dict[str, list[dict[str, Any]]]:
    """Read all rules of a group, as ``SecurityGroupIngress`` and ``SecurityGroupEgress`` are written in one.

    Args:
        clients: Makes the clients.
        group_id: Id of the group.
    """
    filters = [{"Name": "group-id", "Values": [group_id]}]
    pages = clients.client("ec2").get_paginator("describe_security_group_rules").paginate(Filters=filters)
    found = [rule for page in pages for rule in page["SecurityGroupRules"]]
    return {
        "SecurityGroupIngress": [_rule(rule) for rule in found if not rule["IsEgress"]],
        "SecurityGroupEgress": [_rule(rule) for rule in found if rule["IsEgress"]],
    }


def _rule(found: Mapping[str, Any]) -> dict[str, Any]:
    end = "Destination" if found["IsEgress"] else "Source"
    told = _copied(found, "IpProtocol", "Description")
    if found["IpProtocol"] in _WITH_PORTS:
        told |= _copied(found, "FromPort", "ToPort")
    if "CidrIpv4" in found:
        told["CidrIp"] = found["CidrIpv4"]
    if "CidrIpv6" in found:
        told["CidrIpv6"] = found["CidrIpv6"]
    if "PrefixListId" in found:
        told[f"{end}PrefixListId"] = found["PrefixListId"]
    if "ReferencedGroupInfo" in found:
        told[f"{end}SecurityGroupId"] = found["ReferencedGroupInfo"]["GroupId"]
    return told


def _route_table(clients: Clients, table_id: str) -> dict[str, Any]:
    (found,) = clients.client("ec2").describe_route_tables(RouteTableIds=[table_id])["RouteTables"]
    table: dict[str, Any] = found
    return table


def _network_acl(clients: Clients, acl_id: str) -> dict[str, Any]:
    (found,) = clients.client("ec2").describe_network_acls(NetworkAclIds=[acl_id])["NetworkAcls"]
    acl: dict[str, Any] = found
    return acl


def _copied(found: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: found[name] for name in names if name in found}
