"""Availability Zone IDs and the regions they belong to."""

from __future__ import annotations

import re
from typing import Any

from hyperpod_model.catalog import names
from hyperpod_model.catalog.regions import regions
from hyperpod_model.cluster_spec.known import known
from hyperpod_model.faults import Fault, FaultPath

_ZONE_NAME = re.compile(r"[a-z]+(-[a-z]+)+-\d+[a-z]")


def check_zone(zone_id: Any, region_name: Any, path: FaultPath) -> list[Fault]:
    """Check that a zone is given by its ID, and lies in the region.

    Args:
        zone_id: Such as ``usw2-az1``, ``UNKNOWN``, or None for none.
        region_name: Such as ``us-west-2``, ``UNKNOWN``, or None where no region is given.
        path: Where the zone stands.
    """
    if zone_id is None or not known(zone_id):
        return []
    if _ZONE_NAME.fullmatch(zone_id):
        return [
            Fault(
                path,
                f"{zone_id!r} is the name of a zone, which is another zone in each account; give its ID, "
                "such as usw2-az1 (aws ec2 describe-availability-zones lists both)",
            )
        ]
    if not names.ZONE_ID.matches(zone_id):
        return [
            Fault(path, f"must be the ID of an Availability Zone, {names.ZONE_ID.in_words}, got {zone_id!r}")
        ]
    found = None if region_name is None or not known(region_name) else regions().get(region_name)
    if found is None or not found.zone_ids or zone_id in found.zone_ids:
        return []
    listed = ", ".join(found.zone_ids)
    if any(zone_id.partition("-")[0] == other.partition("-")[0] for other in found.zone_ids):
        message = (
            f"{zone_id!r} is no zone of {region_name} that this version knows ({listed}); check that it "
            "exists"
        )
        return [Fault(path, message, severity="warning")]
    return [Fault(path, f"{zone_id!r} is not in {region_name}; choose one of {listed}")]
