"""Security groups and their rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from aws_double.ec2_tags import change_tags, tags_at_creation
from aws_double.naming import physical_name
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.session import Session

_LONGEST_NAME = 255
_COMMON = ("IpProtocol", "FromPort", "ToPort", "Description", "CidrIp", "CidrIpv6")
_EVERYWHERE = ("0.0.0.0/0", "::/0")


@dataclass(frozen=True, slots=True)
class Direction:
    """What rules of one direction are called.

    Attributes:
        name: As EC2's operations end.
        group: Property with the group at the other end.
        prefix_list: Property with the prefix list at the other end.
    """

    name: str
    group: str
    prefix_list: str

    def permission(self, rule: Mapping[str, Any]) -> dict[str, Any]:
        """Return a rule in EC2's terms.

        Raises:
            ResourceFailure: If it has properties that the double does not apply, or not one other end.
        """
        unknown = sorted(set(rule) - {*_COMMON, self.group, self.prefix_list})
        if unknown:
            raise ResourceFailure(f"{self.name} rule: this double does not apply {', '.join(unknown)}")
        described = {"Description": rule["Description"]} if "Description" in rule else {}
        ends = {
            "CidrIp": ("IpRanges", "CidrIp"),
            "CidrIpv6": ("Ipv6Ranges", "CidrIpv6"),
            self.group: ("UserIdGroupPairs", "GroupId"),
            self.prefix_list: ("PrefixListIds", "PrefixListId"),
        }
        given = [name for name in ends if name in rule]
        if len(given) != 1:
            raise ResourceFailure(
                f"{self.name} rule: exactly one of {', '.join(ends)} must be specified, got "
                f"{', '.join(given) if given else 'none'}"
            )
        list_name, key = ends[given[0]]
        end = {key: rule[given[0]], **described}
        ports = {name: rule[name] for name in ("FromPort", "ToPort") if name in rule}
        return {"IpProtocol": rule["IpProtocol"], **ports, list_name: [end]}

    def authorize(self, session: Session, group_id: str, rules: Sequence[Mapping[str, Any]]) -> list[str]:
        """Add rules to a group and return their ids."""
        answer = self._call(session, "authorize_security_group_", group_id, rules)
        return [rule["SecurityGroupRuleId"] for rule in answer["SecurityGroupRules"]]

    def revoke(self, session: Session, group_id: str, rules: Sequence[Mapping[str, Any]]) -> None:
        """Take rules away from a group."""
        self._call(session, "revoke_security_group_", group_id, rules)

    def describe(self, session: Session, group_id: str, rules: Sequence[Mapping[str, Any]]) -> None:
        """Give rules of a group the descriptions that these have."""
        self._call(session, "update_security_group_rule_descriptions_", group_id, rules)

    def _call(
        self, session: Session, verb: str, group_id: str, rules: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        permissions = [self.permission(rule) for rule in rules]
        return session.call("ec2", f"{verb}{self.name}", GroupId=group_id, IpPermissions=permissions)


INGRESS = Direction("ingress", "SourceSecurityGroupId", "SourcePrefixListId")
EGRESS = Direction("egress", "DestinationSecurityGroupId", "DestinationPrefixListId")


@resource_type(
    "AWS::EC2::SecurityGroup",
    properties="GroupName GroupDescription VpcId SecurityGroupIngress SecurityGroupEgress Tags",
    updatable="SecurityGroupIngress SecurityGroupEgress Tags",
)
class SecurityGroup(ResourceType):
    """A security group with the rules written within it."""

    def create(self, resource: Resource, session: Session) -> None:
        """Create it; egress rules of its own take the place of EC2's rule for everything."""
        asked = resource.properties
        group_id = session.call(
            "ec2",
            "create_security_group",
            GroupName=asked.get("GroupName", physical_name(resource, limit=_LONGEST_NAME)),
            Description=asked["GroupDescription"],
            VpcId=asked["VpcId"],
            **tags_at_creation(resource, "security-group"),
        )["GroupId"]
        resource.physical_id = group_id
        resource.attributes = {"Id": group_id, "GroupId": group_id, "VpcId": asked["VpcId"]}
        if asked.get("SecurityGroupIngress"):
            INGRESS.authorize(session, group_id, asked["SecurityGroupIngress"])
        if asked.get("SecurityGroupEgress"):
            _close_egress(session, group_id)
            EGRESS.authorize(session, group_id, asked["SecurityGroupEgress"])

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Change it in place; EC2's rule for everything does not come back with the last egress rule gone."""
        old, new = before.properties, after.properties
        if new.get("SecurityGroupEgress") and not old.get("SecurityGroupEgress"):
            _close_egress(session, after.physical_id)
        for direction, name in ((INGRESS, "SecurityGroupIngress"), (EGRESS, "SecurityGroupEgress")):
            _change_rules(session, after.physical_id, direction, old.get(name, []), new.get(name, []))
        change_tags(before, after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        """Delete it."""
        session.call("ec2", "delete_security_group", GroupId=resource.physical_id)


def _change_rules(
    session: Session,
    group_id: str,
    direction: Direction,
    old: Sequence[Mapping[str, Any]],
    new: Sequence[Mapping[str, Any]],
) -> None:
    had = [_without_description(rule) for rule in old]
    has = [_without_description(rule) for rule in new]
    gone = [rule for rule in had if rule not in has]
    added = [rule for rule, bare in zip(new, has, strict=True) if bare not in had]
    described = [rule for rule, bare in zip(new, has, strict=True) if bare in had and rule not in old]
    if gone:
        direction.revoke(session, group_id, gone)
    if added:
        direction.authorize(session, group_id, added)
    if described:
        direction.describe(session, group_id, described)


def _without_description(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in rule.items() if name != "Description"}


def _close_egress(session: Session, group_id: str, *, but: str | None = None) -> None:
    """Take away rules for all traffic to everywhere, but not the one with an id.

    With the first egress rule that CloudFormation adds it takes these from a group, also where the rule is a
    resource of its own and the group is none of the stack's (aws/aws-cdk issues 987, 3355 and 15297).
    """
    filters = [{"Name": "group-id", "Values": [group_id]}]
    rules = session.client("ec2").describe_security_group_rules(Filters=filters)["SecurityGroupRules"]
    open_rules = [
        rule["SecurityGroupRuleId"]
        for rule in rules
        if rule["IsEgress"]
        and rule["SecurityGroupRuleId"] != but
        and rule["IpProtocol"] == "-1"
        and (rule.get("CidrIpv4") in _EVERYWHERE or rule.get("CidrIpv6") in _EVERYWHERE)
    ]
    if open_rules:
        session.call("ec2", "revoke_security_group_egress", GroupId=group_id, SecurityGroupRuleIds=open_rules)


class _Rule(ResourceType):
    """A rule of a security group as a resource of its own."""

    direction: Direction

    def create(self, resource: Resource, session: Session) -> None:
        """Add the rule."""
        group_id, rule = _parts(resource)
        (resource.physical_id,) = self.direction.authorize(session, group_id, [rule])
        resource.attributes = {"Id": resource.physical_id}

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        """Describe it anew; nothing else of it changes in place."""
        group_id, rule = _parts(after)
        self.direction.describe(session, group_id, [rule])

    def delete(self, resource: Resource, session: Session) -> None:
        """Take the rule away."""
        session.call(
            "ec2",
            f"revoke_security_group_{self.direction.name}",
            GroupId=resource.properties["GroupId"],
            SecurityGroupRuleIds=[resource.physical_id],
        )


@resource_type(
    "AWS::EC2::SecurityGroupIngress",
    properties=f"GroupId {' '.join(_COMMON)} SourceSecurityGroupId SourcePrefixListId",
    updatable="Description",
)
class SecurityGroupIngress(_Rule):
    """A rule for what comes in."""

    direction = INGRESS


@resource_type(
    "AWS::EC2::SecurityGroupEgress",
    properties=f"GroupId {' '.join(_COMMON)} DestinationSecurityGroupId DestinationPrefixListId",
    updatable="Description",
)
class SecurityGroupEgress(_Rule):
    """A rule for what goes out."""

    direction = EGRESS

    def create(self, resource: Resource, session: Session) -> None:
        """Add the rule, in place of a rule for everything."""
        group_id = resource.properties["GroupId"]
        try:
            super().create(resource, session)
        except ClientError as error:
            if error.response["Error"]["Code"] != "InvalidPermission.Duplicate":
                raise
            # One for everything takes the place of EC2's own; any other is still there and refused again.
            _close_egress(session, group_id)
            super().create(resource, session)
        _close_egress(session, group_id, but=resource.physical_id)


def _parts(resource: Resource) -> tuple[str, dict[str, Any]]:
    rule = dict(resource.properties)
    return rule.pop("GroupId"), rule
