"""The network ACL of accelerator subnets denies the checkpoint ports from outside."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.ports import TIERED_CHECKPOINTING, PortRange
from hyperpod_policy.address_ranges import Network, network_of, within
from hyperpod_policy.clusters import distinct, subnets
from hyperpod_policy.networks import SUBNET, associated, vpc_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.security_groups import CHECKPOINT_PORTS
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, integer, same, scalar_text, truth

_ALLOWED = f"inbound {CHECKPOINT_PORTS} from outside the subnet is denied before anything else is allowed"
_ASSOCIATION = "AWS::EC2::SubnetNetworkAclAssociation"
_PROTOCOLS = {"tcp": 6, "udp": 17}


def check(template: Template) -> Iterator[Verdict]:
    """Judge the access list of each subnet with accelerated nodes."""
    for used, groups in distinct(subnets(template)):
        if all(group.accelerated is False for group in groups):
            continue
        subnet = template.resource(used.value, SUBNET)
        if subnet is None:
            yield undetermined(
                used.cluster,
                *used.path,
                found=f"the network ACL of subnet {used.value} is not in this template",
                allowed=_ALLOWED,
            )
            continue
        found = associated(template, subnet, _ASSOCIATION, "NetworkAclId")
        if not found:
            yield _without_acl(template, subnet)
        for association in found:
            yield from _judge(template, subnet, association)


def _without_acl(template: Template, subnet: Resource) -> Verdict:
    if vpc_of(template, subnet) is None:
        return undetermined(
            subnet, found="its VPC, and so its default network ACL, is not in this template", allowed=_ALLOWED
        )
    return failed(
        subnet, found="has the default network ACL of the VPC, which admits everything", allowed=_ALLOWED
    )


def _judge(template: Template, subnet: Resource, association: Resource) -> Iterator[Verdict]:
    acl = association.get("NetworkAclId")
    if template.resource(acl, "AWS::EC2::NetworkAcl") is None:
        yield undetermined(
            association, "NetworkAclId", found=f"network ACL {acl} is not in this template", allowed=_ALLOWED
        )
        return
    entries: list[tuple[int, Resource]] = []
    for entry in template.of_type("AWS::EC2::NetworkAclEntry"):
        if not same(entry.get("NetworkAclId"), acl) or truth(entry.get("Egress", default=False)):
            continue
        number = integer(entry.get("RuleNumber"))
        if number is None:
            yield undetermined(entry, "RuleNumber", found=f"is {entry.get('RuleNumber')}", allowed=_ALLOWED)
            return
        entries.append((number, entry))
    ordered = [entry for _, entry in sorted(entries, key=lambda pair: pair[0])]
    verdicts = list(_openings(subnet, ordered))
    yield from verdicts if verdicts else [passed(association, "NetworkAclId")]


def _openings(subnet: Resource, entries: list[Resource]) -> Iterator[Verdict]:
    inside = network_of(subnet.get("CidrBlock"))
    for position, entry in enumerate(entries):
        action = entry.get("RuleAction")
        if not isinstance(action, Unresolved) and str(action).lower() == "deny":
            continue
        cidr = entry.get("CidrBlock", default=entry.get("Ipv6CidrBlock"))
        source = network_of(cidr)
        for ports in _single_ports():
            matches = _matches(entry, ports)
            if matches is False:
                continue
            if source is not None and inside is not None and within(source, inside):
                break
            if any(_denies(earlier, ports, source) for earlier in entries[:position]):
                continue
            found = f"rule {entry.get('RuleNumber')} admits {ports} from {cidr}"
            if matches is None or source is None or isinstance(action, Unresolved):
                yield undetermined(entry, found=found, allowed=_ALLOWED)
            else:
                yield failed(entry, found=found, allowed=_ALLOWED)
            break


def _single_ports() -> Iterator[PortRange]:
    for ports in TIERED_CHECKPOINTING:
        for port in range(ports.first, ports.last + 1):
            yield PortRange(ports.protocol, port, port)


def _matches(entry: Resource, ports: PortRange) -> bool | None:
    protocol = entry.get("Protocol")
    if isinstance(protocol, Unresolved):
        return None
    number = integer(protocol)
    if number == -1:
        return True
    if number != _PROTOCOLS[ports.protocol] and str(scalar_text(protocol)).lower() != ports.protocol:
        return False
    span = entry.get("PortRange")
    if span is None:
        return True
    first, last = integer(entry.get("PortRange", "From")), integer(entry.get("PortRange", "To"))
    if first is None or last is None:
        return None
    return ports.overlaps(ports.protocol, first, last)


def _denies(entry: Resource, ports: PortRange, source: Network | None) -> bool:
    if str(entry.get("RuleAction")).lower() != "deny" or _matches(entry, ports) is not True:
        return False
    denied = network_of(entry.get("CidrBlock", default=entry.get("Ipv6CidrBlock")))
    if denied is None:
        return False
    if source is None:
        # an allow rule whose range is not known lies within all addresses of its family at most
        return denied.prefixlen == 0
    return within(source, denied)


RULE = Rule(
    id="CheckpointPortsAcl",
    title="the network ACL of accelerator subnets denies the checkpoint ports from outside",
    severity="warning",
    why=(
        "Security groups can be widened by whoever may add a rule, in this stack or by hand. The network "
        "ACL is the second lock in front of checkpoints in the nodes' memory; traffic within the subnet "
        "passes no ACL."
    ),
    fix=(
        "associate a network ACL whose first inbound rules deny these ports for 0.0.0.0/0 and ::/0, then "
        "allow the rest; ClusterNetwork does. For an existing network acknowledge the finding after a look "
        "at its ACL"
    ),
    source="VPC user guide, network ACLs; SageMaker developer guide, managed-tier-checkpointing-setup",
    check=check,
)
