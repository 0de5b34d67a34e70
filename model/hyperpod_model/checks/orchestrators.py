"""The orchestrator, and fields that go with one of them only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from hyperpod_model.checks.reading import absent, at, given, is_unknown, structures, text
from hyperpod_model.faults import Fault

_EKS_ONLY = ("KubernetesConfig", "ImageReleaseVersion")


def orchestrator_of(request: Mapping[str, Any]) -> Literal["slurm", "eks"] | None:
    """Return the orchestrator that a request implies, ``None`` where that is known only at deployment.

    A request without ``Orchestrator`` makes a cluster for Slurm that lifecycle scripts configure.
    """
    orchestrator = at(request, "Orchestrator")
    if is_unknown(orchestrator) or is_unknown(at(orchestrator, "Eks")):
        return None
    return "eks" if given(orchestrator, "Eks") else "slurm"


def is_continuous(request: Mapping[str, Any]) -> bool:
    """Tell whether continuous provisioning is certainly on."""
    return text(request, "NodeProvisioningMode") == "Continuous"


def autoscales(request: Mapping[str, Any]) -> bool:
    """Tell whether Karpenter scales the cluster, or whether that is known only at deployment."""
    mode = at(request, "AutoScaling", "Mode")
    return is_unknown(mode) or mode == "Enable"


def is_unknown_provisioning(request: Mapping[str, Any]) -> bool:
    """Tell whether the provisioning mode is known only at deployment."""
    return is_unknown(at(request, "NodeProvisioningMode"))


def check_orchestrator(request: Mapping[str, Any]) -> list[Fault]:
    """Check that there is one orchestrator and that nothing asks for the other."""
    faults = []
    orchestrator = at(request, "Orchestrator")
    if given(orchestrator, "Eks") and given(orchestrator, "Slurm"):
        faults.append(Fault(("Orchestrator",), "holds both Eks and Slurm; keep one"))
    if isinstance(orchestrator, Mapping) and absent(orchestrator, "Eks") and absent(orchestrator, "Slurm"):
        faults.append(Fault(("Orchestrator",), "is empty; give Eks or Slurm, or leave it out"))
    kind = orchestrator_of(request)
    if kind == "slurm":
        faults += _check_no_eks_fields(request)
    if kind == "eks":
        faults += _check_no_slurm_fields(request)
    return faults


def _check_no_eks_fields(request: Mapping[str, Any]) -> list[Fault]:
    faults = [
        Fault(("InstanceGroups", index, field), "goes with the EKS orchestrator only; leave it out on Slurm")
        for index, group in structures(request, "InstanceGroups")
        for field in _EKS_ONLY
        if given(group, field)
    ]
    if text(request, "TieredStorageConfig", "Mode") == "Enable":
        faults.append(
            Fault(
                ("TieredStorageConfig",),
                "managed tiered checkpointing goes with the EKS orchestrator only; "
                "on Slurm write checkpoints to the file system or a bucket",
            )
        )
    if text(request, "AutoScaling", "Mode") == "Enable":
        faults.append(
            Fault(("AutoScaling",), "Karpenter goes with the EKS orchestrator only; leave it out on Slurm")
        )
    return faults


def _check_no_slurm_fields(request: Mapping[str, Any]) -> list[Fault]:
    faults = []
    for index, group in structures(request, "InstanceGroups"):
        if given(group, "SlurmConfig"):
            faults.append(
                Fault(
                    ("InstanceGroups", index, "SlurmConfig"), "goes with the Slurm orchestrator only, got EKS"
                )
            )
    return faults
