"""The network ACL of accelerator subnets denies the checkpoint ports from outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hyperpod_model.catalog.ports import TIERED_CHECKPOINTING
from hyperpod_policy.address_ranges import Network, network_of, within
from hyperpod_policy.clusters import distinct, subnets
from hyperpod_policy.networks import SUBNET, associated, vpc_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.security_groups import CHECKPOINT_PORTS
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, integer, same, scalar_text, truth

_ALLOWED = f"inbound {CHECKPOINT_PORTS} from outside the subnet is denied before anything else is allowed"
_ASSOCIATION = "AWS::EC2::SubnetNetworkAclAssociation"
_PROTOCOLS = {"6": "tcp", "17": "udp"}
_PORTS = tuple(
    (ports.protocol, port) for ports in TIERED_CHECKPOINTING for port in range(ports.first, ports.last + 1)
)


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


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of an access list, read once: it is asked about every port.

    Attributes:
        resource: As the template has it.
        action: ``allow``, ``deny``, or unresolved.
        protocol: ``tcp``, ``udp``, ``-1`` for all, another, or unresolved.
        ports: First and last port; ``None`` for all. Either may be unknown.
        cidr: Addresses, as written.
        source: The same, if they are known.
    """

    resource: Resource
    action: Any
    protocol: Any
    ports: tuple[int | None, int | None] | None
    cidr: Any
    source: Network | None

    def matches(self, protocol: str, port: int) -> bool | None:
        """Tell whether it speaks about a port."""
        if isinstance(self.protocol, Unresolved):
            return None
        if self.protocol not in ("-1", protocol):
            return False
        if self.protocol == "-1" or self.ports is None:
            return True
        first, last = self.ports
        return None if first is None or last is None else first <= port <= last

    def denies(self, protocol: str, port: int, source: Network | None) -> bool:
        """Tell whether it certainly denies a port to some addresses; unknown ones may be all there are."""
        if self.action != "deny" or self.source is None or self.matches(protocol, port) is not True:
            return False
        return self.source.prefixlen == 0 if source is None else within(source, self.source)


def _read(entry: Resource) -> _Entry:
    action, protocol = entry.get("RuleAction"), entry.get("Protocol")
    if not isinstance(protocol, Unresolved):
        protocol = str(scalar_text(protocol)).lower()
        protocol = _PROTOCOLS.get(protocol, protocol)
    span = entry.get("PortRange")
    cidr = entry.get("CidrBlock", default=entry.get("Ipv6CidrBlock"))
    return _Entry(
        resource=entry,
        action=action if isinstance(action, Unresolved) else str(action).lower(),
        protocol=protocol,
        ports=None
        if span is None
        else (integer(entry.get("PortRange", "From")), integer(entry.get("PortRange", "To"))),
        cidr=cidr,
        source=network_of(cidr),
    )


def _openings(subnet: Resource, resources: list[Resource]) -> Iterator[Verdict]:
    inside = network_of(subnet.get("CidrBlock"))
    entries = [_read(resource) for resource in resources]
    for position, entry in enumerate(entries):
        if entry.action == "deny":
            continue
        if entry.source is not None and inside is not None and within(entry.source, inside):
            continue
        for protocol, port in _PORTS:
            matches = entry.matches(protocol, port)
            if matches is False or any(
                earlier.denies(protocol, port, entry.source) for earlier in entries[:position]
            ):
                continue
            number = entry.resource.get("RuleNumber")
            found = f"rule {number} admits {protocol} {port} from {entry.cidr}"
            if matches is None or entry.source is None or isinstance(entry.action, Unresolved):
                yield undetermined(entry.resource, found=found, allowed=_ALLOWED)
            else:
                yield failed(entry.resource, found=found, allowed=_ALLOWED)
            break


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
