"""Whether the zone of a group has its instance type, as far as EC2 knows."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import Situation

ABOUT = About("instance type")

_PREFIX = "ml."
_LABEL = "an indication: EC2 says so, and SageMaker has no such API"


def check_type_offerings(situation: Situation) -> Iterator[Finding]:
    """Check the instance types of all groups against EC2's offers in their zones.

    SageMaker does not tell which zone has which type. EC2's offers are close to it, and no promise.

    Args:
        situation: The wanted cluster.

    Raises:
        OperationError: If AWS refuses.
    """
    asked: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for group in situation.wanted.groups:
        asked.setdefault((group.types, situation.zones_of(group)), []).append(group.name)
    offers = _offers(situation, [key for key in asked if key[1]])
    for (types, zones), groups in asked.items():
        subject = f"{' or '.join(types)} for {', '.join(groups)}"
        if not zones:
            yield ABOUT.cannot_tell(subject, "nobody says the zone: none of its subnets was found")
            continue
        having = [zone for zone in zones if any((_ec2(name), zone) in offers for name in types)]
        if not having:
            others = sorted({zone for name, zone in offers if name in {_ec2(each) for each in types}})
            region = situation.wanted.region
            yield ABOUT.problem(
                subject,
                f"EC2 does not offer it in {_listed(zones)} ({_LABEL})",
                remedy=situation.wanted.way_into(others)
                if others
                else f"choose another type, or another region: EC2 offers it nowhere in {region}",
            )
        elif len(having) < len(zones):
            without = [zone for zone in zones if zone not in having]
            yield ABOUT.cannot_tell(
                subject,
                f"EC2 offers it in {_listed(having)} and not in {_listed(without)}, and HyperPod takes one "
                "of the zones; name only subnets of a zone that has it",
            )
        else:
            lacking = [name for name in types if all((_ec2(name), zone) not in offers for zone in zones)]
            but = f", {_listed(lacking)} excepted" if lacking else ""
            yield ABOUT.ok(subject, f"offered in {_listed(zones)}{but} ({_LABEL})")


def _offers(
    situation: Situation, asked: list[tuple[tuple[str, ...], tuple[str, ...]]]
) -> set[tuple[str, str]]:
    """Type and zone of each offer in the region, of the asked types alone."""
    types = sorted({_ec2(name) for types, _ in asked for name in types})
    if not types:
        return set()
    rows = situation.reads.all(
        "ec2",
        "DescribeInstanceTypeOfferings",
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": types}],
    )
    return {(row["InstanceType"], row["Location"]) for row in rows}


def _ec2(name: str) -> str:
    return name.removeprefix(_PREFIX)


def _listed(names: list[str] | tuple[str, ...]) -> str:
    return " and ".join(names)
