"""The IAM policy with exactly the permissions that the preflight uses."""

from __future__ import annotations

from typing import Any

from hyperpod_lifecycle.preflight.wanted import Wanted
from hyperpod_model.catalog.preflight import READS, Read

_ANY = ("*",)


def policy_of(wanted: Wanted | None) -> dict[str, Any]:
    """Return the policy.

    Args:
        wanted: The cluster that is looked at; resources are those that it names, and actions without any are
            left out. Default: whatever cluster comes.
    """
    by_resources: dict[tuple[str, ...], set[str]] = {}
    for read in READS:
        resources = _ANY if wanted is None else _resources(read, wanted)
        if read.action is not None and resources and (wanted is None or _is_used(read, wanted)):
            by_resources.setdefault(resources, set()).add(read.action)
    return {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": sorted(actions), "Resource": _one_or_all(resources)}
            for resources, actions in sorted(by_resources.items())
        ],
    }


def _resources(read: Read, wanted: Wanted) -> tuple[str, ...]:
    """What a read looks at in a wanted cluster; nothing if it is not made."""
    if read.resource is None:
        return _ANY
    eks = wanted.existing_eks_arn
    return {
        "cluster": (f"arn:{wanted.partition}:sagemaker:{wanted.region}:*:cluster/*",),
        "training-plan": wanted.training_plan_arns,
        "bucket": tuple(f"arn:{wanted.partition}:s3:::{name}" for name in wanted.buckets),
        "role": tuple(wanted.roles),
        "eks-cluster": () if eks is None else (eks,),
        "addon": () if eks is None else (f"{eks.replace(':cluster/', ':addon/')}/*/*",),
    }[read.resource]


def _is_used(read: Read, wanted: Wanted) -> bool:
    """Whether a read that takes no resource is made for a wanted cluster."""
    makes_eks = wanted.orchestrator == "eks" and wanted.existing_eks_arn is None
    return {
        "DescribeAvailabilityZones": bool(wanted.zone_ids),
        "DescribeSecurityGroups": bool(wanted.security_group_ids),
        "DescribeSubnets": bool(wanted.subnet_ids),
        "DescribeAddonVersions": makes_eks or bool(wanted.add_ons),
        "DescribeClusterVersions": makes_eks,
    }.get(read.operation, True)


def _one_or_all(resources: tuple[str, ...]) -> str | list[str]:
    return resources[0] if len(resources) == 1 else list(resources)
