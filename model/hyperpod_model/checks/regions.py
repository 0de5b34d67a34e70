"""Whether the region has the service and the instance types."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any

from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.catalog.names import REGION
from hyperpod_model.catalog.regions import offers, regions, regions_offering, regions_with_hyperpod
from hyperpod_model.checks.instance_types import named_types
from hyperpod_model.checks.reading import structures, text
from hyperpod_model.faults import Fault, FaultPath

_GROUP_LISTS = ("InstanceGroups", "RestrictedInstanceGroups")
_REGION_FIELD_OF_ARN = 3


def check_region(
    request: Mapping[str, Any], region: str, *, unlisted_instance_types: Collection[str] = ()
) -> list[Fault]:
    """Check that a region has HyperPod, the instance types and the training plans of a request.

    The table of types is known to be incomplete, hence the vouching by name.

    Args:
        request: Request in API terms.
        region: Region of the cluster.
        unlisted_instance_types: Types the user knows the region to have.
    """
    faults = _check_service(region)
    if not faults:
        faults += _check_types(request, region, unlisted_instance_types)
    return faults + _check_training_plans(request, region)


def _check_service(region: str) -> list[Fault]:
    known = regions().get(region)
    if known is not None and known.has_hyperpod:
        return []
    where = f"HyperPod is in {', '.join(regions_with_hyperpod())}"
    if known is not None:
        return [Fault((), f"region {region!r} has no HyperPod; {where}")]
    close = difflib.get_close_matches(region.strip().lower(), regions(), n=1, cutoff=0.8)
    if close:
        return [Fault((), f"there is no region {region!r}; did you mean {close[0]!r}")]
    if not REGION.matches(region):
        return [Fault((), f"there is no region {region!r}; write its code, such as us-west-2; {where}")]
    return [Fault((), f"region {region!r} is not known to this version; {where}", severity="warning")]


def _check_types(request: Mapping[str, Any], region: str, vouched: Collection[str]) -> list[Fault]:
    faults = []
    for groups in _GROUP_LISTS:
        for index, group in structures(request, groups):
            for path, name in named_types(group):
                if name in instance_types() and name not in vouched:
                    faults += _check_type(region, name, (groups, index, *path))
    return faults


def _check_type(region: str, name: str, path: FaultPath) -> list[Fault]:
    offer = offers(region, name)
    if offer.doubt is not None:
        return [
            Fault(
                path,
                f"whether {region} has {name!r} is not certain ({offer.doubt}); "
                "check with AWS, then list it in unlisted_instance_types",
                severity="warning",
            )
        ]
    if offer.value:
        return []
    return [
        Fault(
            path,
            f"region {region} has no {name!r}; it is in {', '.join(regions_offering(name))}; "
            "if you know better, list it in unlisted_instance_types",
        )
    ]


def _check_training_plans(request: Mapping[str, Any], region: str) -> list[Fault]:
    faults = []
    for groups in _GROUP_LISTS:
        for index, group in structures(request, groups):
            parts = (text(group, "TrainingPlanArn") or "").split(":")
            if len(parts) <= _REGION_FIELD_OF_ARN:
                continue
            plan_region = parts[_REGION_FIELD_OF_ARN]
            if plan_region != region:
                faults.append(
                    Fault(
                        (groups, index, "TrainingPlanArn"),
                        f"is of region {plan_region!r}, the cluster is in {region!r}; "
                        "use a plan of the same region",
                    )
                )
    return faults
