"""Whether existing security groups let EFA through: all traffic, from and to themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import Situation

ABOUT = About("security group")

_ALL = "-1"
_DIRECTIONS = {"IpPermissions": "from", "IpPermissionsEgress": "to"}
_COMMANDS = {"from": "authorize-security-group-ingress", "to": "authorize-security-group-egress"}


def check_security_groups(situation: Situation) -> Iterator[Finding]:
    """Check the existing security groups of the nodes.

    EFA's health check, which comes before any script, fails unless each of them allows all traffic from and
    to itself by its own id; 0.0.0.0/0 does not stand in for that. Source: SageMaker developer guide,
    sagemaker-hyperpod-prerequisites.

    Args:
        situation: The wanted cluster.

    Raises:
        OperationError: If AWS refuses.
    """
    ids = situation.wanted.security_group_ids
    if not ids:
        yield ABOUT.not_applicable("the security group is made")
        return
    filters = [{"Name": "group-id", "Values": list(ids)}]
    rows = situation.reads.all("ec2", "DescribeSecurityGroups", Filters=filters)
    there = {row["GroupId"]: row for row in rows}
    for id in ids:
        yield from _check(situation, id, there.get(id))


def _check(situation: Situation, id: str, row: Mapping[str, Any] | None) -> Iterator[Finding]:
    region = situation.wanted.region
    users = [group for group in situation.wanted.groups if id in (group.security_group_ids or ())]
    if row is None:
        yield ABOUT.problem(
            id,
            f"there is no such security group in {region} for account {situation.account}",
            remedy=f"name one of 'aws ec2 describe-security-groups --region {region}'",
        )
        return
    vpc = _vpc(situation)
    if vpc is not None and row["VpcId"] != vpc:
        yield ABOUT.problem(
            id, f"it is of {row['VpcId']}, the subnets of {vpc}", remedy="name a security group of that VPC"
        )
        return
    with_efa = [group.name for group in users if group.has_efa]
    missing = [word for member, word in _DIRECTIONS.items() if not _allows_itself(row, member)]
    if not with_efa:
        yield ABOUT.ok(id, "no group with EFA uses it")
    elif missing:
        commands = " and ".join(
            f"aws ec2 {_COMMANDS[word]} --region {region} --group-id {id} --ip-permissions "
            f"'IpProtocol=-1,UserIdGroupPairs=[{{GroupId={id}}}]'"
            for word in missing
        )
        yield ABOUT.problem(
            id,
            f"no rule allows all traffic {' and '.join(missing)} itself, which EFA of {', '.join(with_efa)} "
            "needs",
            remedy=commands,
        )
    else:
        yield ABOUT.ok(id, "it allows all traffic from and to itself")


def _vpc(situation: Situation) -> str | None:
    """VPC of the subnets; None where that is not known, which the check of subnets says."""
    try:
        vpcs = {str(row["VpcId"]) for row in situation.subnets().values()}
    except OperationError:
        return None
    return vpcs.pop() if len(vpcs) == 1 else None


def _allows_itself(row: Mapping[str, Any], member: str) -> bool:
    return any(
        rule["IpProtocol"] == _ALL
        and any(pair.get("GroupId") == row["GroupId"] for pair in rule.get("UserIdGroupPairs", ()))
        for rule in row.get(member, ())
    )
