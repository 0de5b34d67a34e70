"""AWS regions: where HyperPod exists, which zones a region has and which instance types it offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact, UnknownNameError
from hyperpod_model.catalog.instances import instance_type


@dataclass(frozen=True, slots=True)
class Region:
    """An AWS region.

    Attributes:
        name: Such as ``us-west-2``.
        partition: Such as ``aws``; the first part of ARNs after ``arn:``.
        zone_ids: Availability Zone IDs such as ``usw2-az1``, the same in every account. Empty where no source
            lists them. A zone may be closed to an account, and a new one may be missing here.
        hyperpod: Whether CloudFormation has ``AWS::SageMaker::Cluster`` there.
        zone_ids_without_eks_control_plane: Zones in which Amazon EKS takes no cluster subnet.
    """

    name: str
    partition: str
    zone_ids: tuple[str, ...]
    hyperpod: Fact[bool]
    zone_ids_without_eks_control_plane: tuple[str, ...]

    @property
    def has_hyperpod(self) -> bool:
        """Whether clusters can be made here; only a certain absence counts as none.

        Good enough to refuse a region that surely has none. Ask :attr:`hyperpod` where the doubt matters.
        """
        return self.hyperpod.if_certain(default=True)


@cache
def regions() -> Mapping[str, Region]:
    """All regions that the catalog lists, by name."""
    owner = table("regions")
    return MappingProxyType(
        {
            name: Region(
                name=name,
                partition=row["partition"],
                zone_ids=tuple(row["zone_ids"]),
                hyperpod=fact(f"HyperPod in {name}", row["hyperpod"], owner),
                zone_ids_without_eks_control_plane=tuple(row.get("zone_ids_without_eks_control_plane", ())),
            )
            for name, row in owner["regions"].items()
        }
    )


def region(name: str) -> Region:
    """Look a region up.

    Args:
        name: Such as ``us-west-2``.

    Raises:
        UnknownNameError: If the catalog does not list it.
    """
    known = regions()
    if name not in known:
        raise UnknownNameError("region", name, known)
    return known[name]


@cache
def regions_with_hyperpod() -> tuple[str, ...]:
    """Names of the regions where HyperPod clusters can surely be made, sorted."""
    return tuple(
        sorted(name for name, found in regions().items() if found.hyperpod.if_certain(default=False))
    )


def offers(region_name: str, instance_type_name: str) -> Fact[bool]:
    """Whether a region offers an instance type to HyperPod clusters.

    The table comes from a price list and is incomplete. A listed type is certain. A type that it lists for
    other regions but not for this one counts as not offered: certain enough to refuse, unless the user
    vouches for it. Where the table has no row for the region, or never lists the type, the answer is
    uncertain.

    Args:
        region_name: Such as ``us-west-2``.
        instance_type_name: Such as ``ml.p5.48xlarge``.

    Raises:
        UnknownNameError: If the region or the type is not in the catalog.
    """
    region(region_name)
    instance_type(instance_type_name)
    listed = _types_by_region()
    owner = table("region_instance_types")
    here = listed.get(region_name)
    doubt = None
    if not any(instance_type_name in types for types in listed.values()):
        doubt = f"the table of types by region lists {instance_type_name} for no region at all"
    elif here is None:
        doubt = f"the table of types by region has no row for {region_name}"
    return Fact(
        f"offer of {instance_type_name} in {region_name}",
        here is not None and instance_type_name in here,
        source=owner["source"],
        checked_on=owner["checked_on"],
        doubt=doubt,
    )


def regions_offering(instance_type_name: str) -> tuple[str, ...]:
    """Regions with HyperPod for which the table lists an instance type, sorted; empty if it never lists it.

    Args:
        instance_type_name: Such as ``ml.p5.48xlarge``.

    Raises:
        UnknownNameError: If the type is not in the catalog.
    """
    instance_type(instance_type_name)
    return tuple(
        sorted(
            name
            for name, types in _types_by_region().items()
            if instance_type_name in types and region(name).hyperpod.if_certain(default=False)
        )
    )


@cache
def _types_by_region() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(types) for name, types in table("region_instance_types")["regions"].items()}
