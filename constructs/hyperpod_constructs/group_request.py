"""Parts that instance groups of both kinds put into a ``CreateCluster`` request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from aws_cdk import aws_ec2 as ec2

from hyperpod_constructs.cluster_properties import without_absent
from hyperpod_model.faults import Fault


class MountRequest(Protocol):
    """A file system and where nodes have it; ``LustreMount`` and ``OpenZfsMount`` are such."""

    def to_request(self) -> dict[str, Any]:
        """Return the mount in the terms of a ``CreateCluster`` request."""


def frozen_lists(owner: Any, names: Iterable[str]) -> list[Fault]:
    """Make lists of a frozen value unchangeable, and find what is no list.

    Args:
        owner: The frozen value.
        names: Names of its lists. ``None`` passes.
    """
    faults = []
    for name in names:
        values = getattr(owner, name)
        if isinstance(values, (list, tuple)):
            object.__setattr__(owner, name, tuple(values))
        elif values is not None:
            faults.append(Fault((name,), f"must be a list, got {values!r}"))
    return faults


def mount_requests(
    lustre: Sequence[MountRequest] | None, open_zfs: Sequence[MountRequest] | None
) -> list[dict[str, Any]]:
    """Return items of ``InstanceStorageConfigs`` for file systems."""
    return [
        *({"FsxLustreConfig": mount.to_request()} for mount in (() if lustre is None else lustre)),
        *({"FsxOpenZfsConfig": mount.to_request()} for mount in (() if open_zfs is None else open_zfs)),
    ]


def vpc_request(
    subnets: Sequence[ec2.ISubnet] | None, security_groups: Sequence[ec2.ISecurityGroup] | None
) -> dict[str, Any] | None:
    """Return a ``VpcConfig``, ``None`` where neither is given."""
    if subnets is None and security_groups is None:
        return None
    return without_absent(
        {
            "Subnets": None if subnets is None else [subnet.subnet_id for subnet in subnets],
            "SecurityGroupIds": None
            if security_groups is None
            else [group.security_group_id for group in security_groups],
        }
    )
