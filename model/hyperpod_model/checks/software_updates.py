"""Updates of the nodes' image: batches, alarms, schedules and patches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.cluster_rules import Orchestrator, max_batch_percentage
from hyperpod_model.checks.reading import absent, at, given, items, number, structures, text
from hyperpod_model.faults import Fault, FaultPath

_CONFIGS = ("AutoPatchConfig", "ScheduledUpdateConfig")
_BATCHES = ("MaximumBatchSize", "RollbackMaximumBatchSize")


def check_batch_size(size: Mapping[str, Any]) -> list[Fault]:
    """Check one ``CapacitySizeConfig``."""
    value = number(size, "Value")
    most = max_batch_percentage()
    if text(size, "Type") == "CAPACITY_PERCENTAGE" and value is not None and value > most:
        return [Fault(("Value",), f"must be 1 to {most} percent, got {value}")]
    return []


def check_software_updates(group: Mapping[str, Any]) -> list[Fault]:
    """Check how the image of one group is updated."""
    faults: list[Fault] = []
    next_patch = ("AutoPatchConfig", "PatchSchedule", "NextPatchDate")
    if given(group, *next_patch):
        faults.append(
            Fault(
                next_patch,
                "is set by the service and read-only in CloudFormation; move it with the API, or "
                "leave it out",
            )
        )
    for config in _CONFIGS:
        deployment = at(group, config, "DeploymentConfig")
        path: FaultPath = (config, "DeploymentConfig")
        for batch in _BATCHES:
            size = at(deployment, "RollingUpdatePolicy", batch)
            if isinstance(size, Mapping):
                below = (*path, "RollingUpdatePolicy", batch)
                faults += [fault._replace(path=(*below, *fault.path)) for fault in check_batch_size(size)]
        alarms = [
            text(alarm, "AlarmName") for _, alarm in structures(deployment, "AutoRollbackConfiguration")
        ]
        faults += [
            Fault((*path, "AutoRollbackConfiguration", index), f"{name!r} is listed twice; list it once")
            for index, name in enumerate(alarms)
            if name is not None and name in alarms[:index]
        ]
        if items(deployment, "AutoRollbackConfiguration") and absent(deployment, "RollingUpdatePolicy"):
            faults.append(
                Fault(
                    (*path, "AutoRollbackConfiguration"),
                    "is watched between batches only, and there are none; give maximum_batch_size",
                    severity="warning",
                )
            )
    return faults


def check_software_updates_under(group: Mapping[str, Any], orchestrator: Orchestrator) -> list[Fault]:
    """Check that the orchestrator can update the nodes of a group as it says."""
    image = text(group, "ImageId")
    if orchestrator == "eks":
        if image is None or not image.startswith("ami-") or absent(group, "ImageReleaseVersion"):
            return []
        return [
            Fault(
                ("ImageReleaseVersion",),
                f"names a release of HyperPod's own image beside image_id {image!r}; keep one of the two",
                severity="warning",
            )
        ]
    return [
        Fault(
            (config, "DeploymentConfig", "RollingUpdatePolicy"),
            "updates in batches, which goes with the EKS orchestrator only; leave it out on Slurm",
        )
        for config in _CONFIGS
        if given(group, config, "DeploymentConfig", "RollingUpdatePolicy")
    ]
