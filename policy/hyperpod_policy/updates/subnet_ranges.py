"""Ranges of subnets that an update creates beside the old ones."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from hyperpod_policy.networks import SUBNET
from hyperpod_policy.rule import Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource
from hyperpod_policy.update import Update, UpdateRule

_RANGE = "CidrBlock"


def check(update: Update) -> Iterator[Verdict]:
    """Judge each subnet that the update creates against those that exist at that moment."""
    present = list(update.baseline.of_type(SUBNET))
    for new in update.template.of_type(SUBNET):
        old = update.baseline.by_key(new.key)
        created = True if old is None else update.replaced(new.key)
        if created is False:
            continue
        verdicts = [
            verdict for other in present for verdict in _judge(update, new, other, certain=created is True)
        ]
        yield from verdicts if verdicts else [passed(new, _RANGE)]


def _judge(update: Update, new: Resource, other: Resource, *, certain: bool) -> Iterator[Verdict]:
    if update.differ(other.get("VpcId"), new.get("VpcId")) is not False:
        return  # another VPC, or one that only deployment can tell apart
    overlap = _overlap(other.get(_RANGE), new.get(_RANGE))
    if overlap is False:
        return
    whose = "its own old range" if other.key == new.key else f"that of {other.logical_id}"
    found = f"{new.get(_RANGE)} overlaps {whose}, {other.get(_RANGE)}, which exists until the update is over"
    answer = failed if certain and overlap is True else undetermined
    yield answer(new, _RANGE, found=found, allowed="a range that no subnet of the baseline has")


def _overlap(one: Any, other: Any) -> bool | None:
    if one is None or other is None:
        return False
    if one == other:
        return True
    if not isinstance(one, str) or not isinstance(other, str):
        return None
    try:
        return ipaddress.ip_network(one, strict=False).overlaps(ipaddress.ip_network(other, strict=False))
    except ValueError:
        return None


RULE = UpdateRule(
    id="SubnetRanges",
    title="a subnet that an update creates has a range of its own",
    severity="error",
    why=(
        "CloudFormation creates a subnet anew before it deletes the old one, so both ranges are in the VPC "
        "at once: EC2 refuses one that overlaps, and the update rolls back."
    ),
    fix=(
        "keep range and zone of the subnet, or give the new one a free part of the VPC's range; nodes move "
        "there with groups of a new name"
    ),
    source="EC2 user guide, subnet CIDR blocks; CloudFormation user guide, update behaviors (replacement)",
    check=check,
)
