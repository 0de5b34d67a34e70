"""Network ACLs: entries checked as EC2 checks them, associations moved only where they can go."""

from __future__ import annotations

from functools import partialmethod
from typing import Any

from moto.core.responses import EmptyResult
from moto.ec2.exceptions import DependencyViolationError, EC2ClientError, InvalidNetworkAclIdError
from moto.ec2.models import EC2Backend
from moto.ec2.models.network_acls import NetworkAclBackend
from moto.ec2.responses import EC2Response

from aws_double.services.ec2.overriding import invalid, override
from aws_double.services.ec2.ranges import canonical_range

_LAST_RULE = 32767
_RULE_NUMBERS = range(1, _LAST_RULE)
_WITH_PORTS = {"6": "TCP", "17": "UDP"}
_NAMES = {"tcp": "6", "udp": "17", "icmp": "1", "icmpv6": "58"}


def create_network_acl(backend: Any, vpc_id: str, tags: Any = None, default: bool = False) -> Any:
    """Create an ACL; each ends with a rule that denies the rest, which moto gives the default ACL only."""
    acl = NetworkAclBackend.create_network_acl(backend, vpc_id, tags=tags, default=default)
    if not default:
        for egress in (True, False):
            _add_entry(backend, acl.id, _LAST_RULE, "-1", "deny", egress, cidr_block="0.0.0.0/0")
    return acl


def create_network_acl_entry(
    backend: Any,
    network_acl_id: str,
    rule_number: int,
    protocol: str,
    rule_action: str,
    egress: bool,
    cidr_block: str | None,
    icmp_code: int | None,
    icmp_type: int | None,
    port_range_from: int | None,
    port_range_to: int | None,
    ipv6_cidr_block: str | None,
) -> Any:
    """Create an entry that EC2 would take; moto takes any."""
    if int(rule_number) not in (*_RULE_NUMBERS, _LAST_RULE):
        raise invalid(f"Value ({rule_number}) for parameter ruleNumber is invalid. It must be 1 to 32766.")
    protocol = _NAMES.get(str(protocol).lower(), str(protocol))
    if rule_action not in ("allow", "deny"):
        raise invalid(f"Value ({rule_action}) for parameter ruleAction is invalid.")
    if (cidr_block is None) == (ipv6_cidr_block is None):
        raise invalid("Exactly one of cidrBlock and ipv6CidrBlock must be given.")
    if protocol in _WITH_PORTS:
        _check_ports(_WITH_PORTS[protocol], port_range_from, port_range_to)
    return _add_entry(
        backend,
        network_acl_id,
        int(rule_number),
        protocol,
        rule_action,
        egress,
        cidr_block=None if cidr_block is None else canonical_range(cidr_block, version=4),
        ipv6_cidr_block=None if ipv6_cidr_block is None else canonical_range(ipv6_cidr_block, version=6),
        icmp_code=icmp_code,
        icmp_type=icmp_type,
        port_range_from=port_range_from,
        port_range_to=port_range_to,
    )


def delete_network_acl_entry(backend: Any, network_acl_id: str, rule_number: int, egress: bool) -> Any:
    """Delete an entry; one that is not there is an error of EC2, and a crash of moto."""
    entries = backend.get_network_acl(network_acl_id).network_acl_entries
    for entry in entries:
        if entry.egress == egress and entry.rule_number == int(rule_number):
            entries.remove(entry)
            return entry
    direction = "egress" if egress else "ingress"
    raise EC2ClientError(
        "InvalidNetworkAclEntry.NotFound",
        f"Unable to find {direction} entry with rule number {rule_number} in {network_acl_id}",
    )


def replace_network_acl_entry(
    backend: Any,
    network_acl_id: str,
    rule_number: int,
    protocol: str,
    rule_action: str,
    egress: bool,
    **what: Any,
) -> Any:
    """Put another entry in the place of one, which stays if the other is refused."""
    entry = delete_network_acl_entry(backend, network_acl_id, rule_number, egress)
    try:
        return create_network_acl_entry(
            backend, network_acl_id, rule_number, protocol, rule_action, egress, **what
        )
    except EC2ClientError:
        backend.get_network_acl(network_acl_id).network_acl_entries.append(entry)
        raise


def replace_network_acl_association(backend: Any, association_id: str, network_acl_id: str) -> Any:
    """Move a subnet to another ACL of its VPC."""
    acl = backend.get_network_acl(network_acl_id)
    for other in backend.network_acls.values():
        if association_id in other._associations:
            if other.vpc_id != acl.vpc_id:
                raise invalid(f"Network ACL {network_acl_id} and the subnet belong to different networks.")
            return NetworkAclBackend.replace_network_acl_association(backend, association_id, network_acl_id)
    raise EC2ClientError(
        "InvalidAssociationID.NotFound", f"The association ID '{association_id}' does not exist"
    )


def delete_network_acl(backend: Any, network_acl_id: str) -> Any:
    """Delete an ACL, unless it came with the VPC or has subnets."""
    acl = backend.get_network_acl(network_acl_id)
    if acl.default:
        raise invalid(f"The network ACL '{network_acl_id}' is the default of its VPC and cannot be deleted.")
    if acl._associations:
        subnets = ", ".join(str(association.subnet_id) for association in acl._associations.values())
        raise DependencyViolationError(
            f"The network ACL '{network_acl_id}' has dependencies and cannot be deleted. Used by {subnets}."
        )
    return NetworkAclBackend.delete_network_acl(backend, network_acl_id)


def describe_network_acls(backend: Any, network_acl_ids: Any = None, filters: Any = None) -> Any:
    """Describe ACLs; moto says of an unknown one that its route table is unknown."""
    for network_acl_id in network_acl_ids if network_acl_ids is not None else ():
        if network_acl_id not in backend.network_acls:
            raise InvalidNetworkAclIdError(network_acl_id)
    return NetworkAclBackend.describe_network_acls(backend, network_acl_ids, filters)


def _answer(response: Any, name: str) -> EmptyResult:
    """Answer a request about an entry; moto looks for type and code of ICMP where they are not."""
    asked = response._get_param
    getattr(response.ec2_backend, name)(
        network_acl_id=asked("NetworkAclId"),
        rule_number=asked("RuleNumber"),
        protocol=asked("Protocol"),
        rule_action=asked("RuleAction"),
        egress=asked("Egress"),
        cidr_block=asked("CidrBlock"),
        icmp_code=asked("IcmpTypeCode.Code"),
        icmp_type=asked("IcmpTypeCode.Type"),
        port_range_from=asked("PortRange.From"),
        port_range_to=asked("PortRange.To"),
        ipv6_cidr_block=asked("Ipv6CidrBlock"),
    )
    return EmptyResult()


def _check_ports(protocol: str, first: int | None, last: int | None) -> None:
    if first is None or last is None:
        raise EC2ClientError("MissingParameter", f"The parameter PortRange is required for {protocol}.")
    if not 0 <= int(first) <= int(last) <= 65535:
        raise invalid(f"Invalid {protocol} port range ({first}:{last}).")


def _add_entry(
    backend: Any,
    network_acl_id: str,
    rule_number: int,
    protocol: str,
    rule_action: str,
    egress: bool,
    *,
    cidr_block: str | None = None,
    ipv6_cidr_block: str | None = None,
    icmp_code: int | None = None,
    icmp_type: int | None = None,
    port_range_from: int | None = None,
    port_range_to: int | None = None,
) -> Any:
    return NetworkAclBackend.create_network_acl_entry(
        backend,
        network_acl_id=network_acl_id,
        rule_number=rule_number,
        protocol=protocol,
        rule_action=rule_action,
        egress=egress,
        cidr_block=cidr_block,  # type: ignore[arg-type]
        icmp_code=icmp_code,
        icmp_type=icmp_type,
        port_range_from=port_range_from,
        port_range_to=port_range_to,
        ipv6_cidr_block=ipv6_cidr_block,
    )


def install() -> None:
    """Put these in the place of moto's."""
    override(
        EC2Backend,
        create_network_acl,
        create_network_acl_entry,
        delete_network_acl_entry,
        replace_network_acl_entry,
        replace_network_acl_association,
        delete_network_acl,
        describe_network_acls,
    )
    for verb in ("create", "replace"):
        name = f"{verb}_network_acl_entry"
        setattr(EC2Response, name, partialmethod(_answer, name))
