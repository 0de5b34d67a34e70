"""Whether Availability Zones can hold the control plane of an EKS cluster."""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_model.catalog.regions import regions
from hyperpod_model.checks.zones import check_availability_zone_id
from hyperpod_model.faults import Fault, Unknown

CONTROL_PLANE_ZONES = 2
"""EKS takes no fewer zones than that, and more of them make it no better for accelerators in one."""


def check_control_plane_zones(
    availability_zone_ids: Sequence[str | Unknown], *, region: str | Unknown | None = None
) -> list[Fault]:
    """Check the zones in which EKS puts the network interfaces of its control plane.

    Source: EKS user guide, VPC and subnet requirements.

    Args:
        availability_zone_ids: Such as ``usw2-az1`` and ``usw2-az2``. The accelerators' zone may be one of
            them or not.
        region: Region of the cluster; None or ``UNKNOWN`` skips the rules that need it.

    Returns:
        Every fault found; the path of a single zone is its index.
    """
    if len(availability_zone_ids) != CONTROL_PLANE_ZONES:
        return [
            Fault(
                (),
                f"must be {CONTROL_PLANE_ZONES} Availability Zones, which EKS asks for, got "
                f"{len(availability_zone_ids)}; name two zones such as usw2-az1 and usw2-az2",
            )
        ]
    faults = [
        fault._replace(path=(index, *fault.path))
        for index, zone in enumerate(availability_zone_ids)
        for fault in check_availability_zone_id(zone, region=region)
    ]
    known = [zone for zone in availability_zone_ids if not isinstance(zone, Unknown)]
    if len(known) > len(set(known)):
        faults.append(Fault((), f"must be two different Availability Zones, got {known[0]!r} twice"))
    excluded = {
        zone: name for name, found in regions().items() for zone in found.zone_ids_without_eks_control_plane
    }
    for index, zone in enumerate(availability_zone_ids):
        if isinstance(zone, Unknown) or zone not in excluded:
            continue
        others = [
            other
            for other in regions()[excluded[zone]].zone_ids
            if other not in excluded and other not in known
        ]
        way_out = f"one of {', '.join(others)}" if others else "another zone"
        faults.append(Fault((index,), f"EKS takes no control plane in {zone!r}; use {way_out}"))
    return faults
