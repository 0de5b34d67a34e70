"""Whether the zones in which a network is made are open to the account."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import Situation
from hyperpod_model.catalog.preflight import GOOD_ZONE_STATES

ABOUT = About("zone")


def check_zones(situation: Situation) -> Iterator[Finding]:
    """Check the zones of the specification against those of the account.

    Args:
        situation: The wanted cluster.

    Raises:
        OperationError: If AWS refuses.
    """
    if not situation.wanted.zone_ids:
        yield ABOUT.not_applicable("no network is made")
        return
    rows = situation.reads.one("ec2", "DescribeAvailabilityZones")["AvailabilityZones"]
    zones = {row["ZoneId"]: row for row in rows if row.get("ZoneType") == "availability-zone"}
    for id in situation.wanted.zone_ids:
        row = zones.get(id)
        if row is None:
            yield ABOUT.problem(
                id,
                f"the account has no such zone in {situation.wanted.region}",
                remedy=f"choose one of {', '.join(sorted(zones))}",
            )
        elif row["State"] not in GOOD_ZONE_STATES:
            said = " ".join(message["Message"] for message in row.get("Messages", ()))
            yield ABOUT.problem(
                id,
                f"the zone is {row['State']}{f' ({said})' if said else ''}",
                remedy="wait until it is available, or choose another zone that has your capacity",
            )
        else:
            yield ABOUT.ok(id, f"it is {row['ZoneName']} in this account, and {row['State']}")
