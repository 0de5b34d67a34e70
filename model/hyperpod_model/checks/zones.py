"""Whether an Availability Zone id can be the zone of a cluster."""

from __future__ import annotations

import re

from hyperpod_model.catalog.regions import regions
from hyperpod_model.faults import Fault, Unknown

_ZONE_NAME = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d+[a-z]")
_ZONE_ID = re.compile(r"[a-z]+\d+(-[a-z]+\d+)?-az\d+")


def check_availability_zone_id(
    availability_zone_id: str | Unknown, *, region: str | Unknown | None = None
) -> list[Fault]:
    """Check the id of the Availability Zone that holds the nodes.

    Ids are the same in every account, names are not: ``us-west-2a`` is another zone for another account, so
    training plans and capacity reservations state ids. Source: AWS docs, Availability Zone IDs.

    Args:
        availability_zone_id: Such as ``usw2-az1``.
        region: Region of the cluster; None or ``UNKNOWN`` skips the rules that need it.

    Returns:
        Every fault found, with an empty path. An id that the catalog does not list for the region is only a
        warning: zones are added, and Local Zones are not listed.
    """
    if isinstance(availability_zone_id, Unknown):
        return []
    listed = () if region is None or isinstance(region, Unknown) or region not in regions() else (region,)
    zone_ids = regions()[listed[0]].zone_ids if listed else ()
    choices = f"one of {', '.join(zone_ids)}" if zone_ids else "an id such as usw2-az1"
    if _ZONE_NAME.fullmatch(availability_zone_id):
        return [
            Fault(
                (),
                f"must be the id of an Availability Zone, got the name {availability_zone_id!r}, which means "
                f"another zone in another account; use {choices}",
            )
        ]
    if not _ZONE_ID.fullmatch(availability_zone_id):
        return [
            Fault((), f"must be the id of an Availability Zone, got {availability_zone_id!r}; use {choices}")
        ]
    if not listed or availability_zone_id in zone_ids:
        return []
    for name, other in regions().items():
        if availability_zone_id in other.zone_ids:
            return [
                Fault(
                    (),
                    f"must be a zone of {region}, got {availability_zone_id!r} of {name}; use "
                    f"{choices if zone_ids else 'one of its own'}",
                )
            ]
    if not zone_ids:
        return []
    return [
        Fault(
            (),
            f"{availability_zone_id!r} is not a known zone of {region}; make sure that it exists, known are "
            f"{', '.join(zone_ids)}",
            "warning",
        )
    ]
