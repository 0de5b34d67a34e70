"""The VPC of the cluster and of single groups, and what cannot be without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.checks.orchestrators import orchestrator_of
from hyperpod_model.checks.reading import absent, given, is_unknown, items, structures
from hyperpod_model.faults import Fault

_FILE_SYSTEMS = ("FsxLustreConfig", "FsxOpenZfsConfig")


def check_networks(request: Mapping[str, Any]) -> list[Fault]:
    """Check the VPC configuration of a cluster and its groups."""
    kind = orchestrator_of(request)
    faults = []
    if kind == "eks" and absent(request, "VpcConfig"):
        faults.append(
            Fault(("VpcConfig",), "is required with the EKS orchestrator: the VPC of the EKS cluster")
        )
    if kind == "slurm" and absent(request, "VpcConfig"):
        faults += [
            Fault(
                ("InstanceGroups", index, "OverrideVpcConfig"),
                "is allowed on Slurm only where the cluster itself has subnets and security groups; "
                "give it these",
            )
            for index, group in structures(request, "InstanceGroups")
            if given(group, "OverrideVpcConfig")
        ]
    return faults + _check_mounts(request, kind)


def _check_mounts(request: Mapping[str, Any], orchestrator: str | None) -> list[Fault]:
    faults = []
    # Where some group has a node type and none is the Controller, that is a fault of its own.
    has_node_types = any(is_unknown(group) for group in items(request, "InstanceGroups")) or any(
        not absent(group, "SlurmConfig") for _, group in structures(request, "InstanceGroups")
    )
    for index, group in structures(request, "InstanceGroups"):
        for volume, config in structures(group, "InstanceStorageConfigs"):
            for kind in _FILE_SYSTEMS:
                if not given(config, kind):
                    continue
                path = ("InstanceGroups", index, "InstanceStorageConfigs", volume, kind)
                if orchestrator == "eks":
                    faults.append(
                        Fault(
                            path,
                            "is mounted by HyperPod on Slurm only; on EKS pods mount it with its CSI driver",
                        )
                    )
                elif not has_node_types:
                    faults.append(
                        Fault(
                            path,
                            "is mounted by HyperPod only where a group has the slurm_node_type Controller; "
                            "give node types, or mount the file system in the lifecycle scripts",
                        )
                    )
                if absent(request, "VpcConfig"):
                    faults.append(
                        Fault(
                            path,
                            "needs the cluster in the file system's VPC; give it subnets and security groups",
                        )
                    )
    return faults
