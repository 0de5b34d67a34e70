"""What needs continuous provisioning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.checks.orchestrators import is_continuous, is_unknown_provisioning
from hyperpod_model.checks.reading import given, number, structures, text
from hyperpod_model.faults import Fault, FaultPath

_WAY_OUT = "needs node_provisioning_mode 'Continuous'; set it, or leave this out"


def check_provisioning(request: Mapping[str, Any]) -> list[Fault]:
    """Check that nothing needs continuous provisioning where it is off."""
    if is_continuous(request) or is_unknown_provisioning(request):
        return []
    paths: list[FaultPath] = []
    for index, group in structures(request, "InstanceGroups"):
        where: FaultPath = ("InstanceGroups", index)
        if number(group, "MinInstanceCount") is not None:
            paths.append((*where, "MinInstanceCount"))
        if given(group, "InstanceRequirements"):
            paths.append((*where, "InstanceRequirements"))
        paths += [
            (*where, "InstanceStorageConfigs", volume, "EbsVolumeConfig", "VolumeKmsKeyId")
            for volume, config in structures(group, "InstanceStorageConfigs")
            if given(config, "EbsVolumeConfig", "VolumeKmsKeyId")
        ]
    if given(request, "Orchestrator", "Slurm", "AccountingDatabase"):
        paths.append(("Orchestrator", "Slurm", "AccountingDatabase"))
    if text(request, "AutoScaling", "Mode") == "Enable":
        paths.append(("AutoScaling",))
    return [Fault(path, _WAY_OUT) for path in paths]
