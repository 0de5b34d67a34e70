"""Whether an EKS cluster can carry HyperPod: its version, its zones, its add-ons."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_model.catalog.add_ons import ADD_ONS
from hyperpod_model.catalog.fact import UnknownNameError
from hyperpod_model.catalog.regions import regions
from hyperpod_model.catalog.versions import KUBERNETES
from hyperpod_model.checks.zones import check_availability_zone_id
from hyperpod_model.faults import Fault, Unknown

_VERSION = re.compile(r"1\.\d{2}")
_ADD_ON_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)(?:[-+].*)?")
_ZONES = 2


def newest_kubernetes_version() -> str:
    """The newest Kubernetes version that every source of the catalog names as supported."""
    return min((claim.value[1] for claim in KUBERNETES.claims), key=_numbers)


def check_kubernetes_version(version: str | Unknown) -> list[Fault]:
    """Check that HyperPod supports a Kubernetes version.

    Where sources disagree, a version that only some of them list is a warning that names the others.

    Args:
        version: Such as ``1.33``.

    Returns:
        Every fault found, with an empty path.
    """
    if isinstance(version, Unknown):
        return []
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        return [
            Fault(
                (), f"must be a Kubernetes version such as '{newest_kubernetes_version()}', got {version!r}"
            )
        ]
    agreeing = [claim for claim in KUBERNETES.claims if _within(version, claim.value)]
    if not agreeing:
        ranges = " and ".join(
            f"{'-'.join(claim.value)} ({claim.source}, {claim.checked_on})" for claim in KUBERNETES.claims
        )
        return [Fault((), f"must be a Kubernetes version that HyperPod supports, got '{version}'; {ranges}")]
    against = [claim for claim in KUBERNETES.claims if claim not in agreeing]
    if not against:
        return []
    said = "; ".join(f"{claim.source} ({claim.checked_on}) has {'-'.join(claim.value)}" for claim in against)
    return [
        Fault(
            (),
            f"'{version}' is not in every list of supported Kubernetes versions: {said}; all have "
            f"'{newest_kubernetes_version()}'",
            "warning",
        )
    ]


def check_control_plane_zones(
    zone_ids: Sequence[str | Unknown], *, region: str | Unknown | None = None
) -> list[Fault]:
    """Check the zones of the control plane's subnets.

    EKS asks for subnets in two zones, and takes none in some zones, although nodes may stand there. Source:
    EKS user guide, VPC and subnet requirements.

    Args:
        zone_ids: Ids such as ``usw2-az1``.
        region: Region of the cluster; None or ``UNKNOWN`` skips the rules that need it.

    Returns:
        Every fault found; the path is the index of the zone, or empty.
    """
    faults = []
    if len(zone_ids) != _ZONES:
        faults.append(Fault((), f"must be two zones, got {len(zone_ids)}"))
    known = [zone for zone in zone_ids if isinstance(zone, str)]
    faults += [
        Fault((), f"must be different zones, got '{zone}' twice")
        for zone in sorted(set(known))
        if known.count(zone) > 1
    ]
    for index, zone in enumerate(zone_ids):
        if isinstance(zone, Unknown):
            continue
        found = check_availability_zone_id(zone, region=region)
        faults += [fault._replace(path=(index,)) for fault in found]
        without = _region_without(zone)
        if without is not None:
            others = ", ".join(
                other
                for other in regions()[without].zone_ids
                if other not in regions()[without].zone_ids_without_eks_control_plane
            )
            faults.append(
                Fault(
                    (index,),
                    f"must be a zone in which EKS takes subnets of a control plane, got '{zone}'; use two of "
                    f"{others}",
                )
            )
    return faults


def check_add_on_versions(versions: Mapping[str, Any]) -> list[Fault]:
    """Check versions of add-ons against the least that HyperPod takes.

    Args:
        versions: Version, such as ``v1.18.3-eksbuild.1``, by name of the add-on. Unknown versions pass.

    Returns:
        Every fault found; the path is the name of the add-on.
    """
    faults = []
    for name, version in versions.items():
        if name not in ADD_ONS:
            faults.append(Fault((name,), f"{UnknownNameError('add-on', name, ADD_ONS)}"))
            continue
        if isinstance(version, Unknown):
            continue
        parsed = _ADD_ON_VERSION.fullmatch(version) if isinstance(version, str) else None
        if parsed is None:
            faults.append(Fault((name,), f"must be a version such as 'v1.18.3-eksbuild.1', got {version!r}"))
            continue
        minimum = ADD_ONS[name].minimum
        if minimum is not None and _numbers(parsed[1]) < _numbers(minimum):
            faults.append(Fault((name,), f"must be {minimum} or later for HyperPod, got '{version}'"))
    return faults


def _within(version: str, ends: tuple[str, str]) -> bool:
    first, last = ends
    return _numbers(first) <= _numbers(version) <= _numbers(last)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _region_without(zone_id: str) -> str | None:
    for name, region in regions().items():
        if zone_id in region.zone_ids_without_eks_control_plane:
            return name
    return None
