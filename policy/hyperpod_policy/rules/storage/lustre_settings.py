"""The file system's settings are ones that FSx takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_model.checks.lustre import check_lustre
from hyperpod_model.faults import UNKNOWN, FaultPath
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.rule import Rule, Verdict, failed, passed
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, integer, request_terms, single, truth

_CONFIGURATION = "LustreConfiguration"
_PROPERTIES: dict[str, FaultPath] = {
    "deployment_type": (_CONFIGURATION, "DeploymentType"),
    "storage_capacity_gib": ("StorageCapacity",),
    "throughput_mbps_per_tib": (_CONFIGURATION, "PerUnitStorageThroughput"),
    "backup_retention_days": (_CONFIGURATION, "AutomaticBackupRetentionDays"),
    "kms_key": ("KmsKeyId",),
    "efa_enabled": (_CONFIGURATION, "EfaEnabled"),
    "data_compression_type": (_CONFIGURATION, "DataCompressionType"),
}


def check(template: Template) -> Iterator[Verdict]:
    """Judge the settings of each file system."""
    for file_system in lustre_file_systems(template):
        if file_system.get("StorageType", default="SSD") != "SSD" or "BackupId" in file_system.properties:
            continue
        faults = check_lustre(
            deployment_type=request_terms(
                single(file_system.get(_CONFIGURATION, "DeploymentType", default="SCRATCH_1"))
            ),
            storage_capacity_gib=_number(file_system, "storage_capacity_gib"),
            throughput_mbps_per_tib=_number(file_system, "throughput_mbps_per_tib"),
            backup_retention_days=_number(file_system, "backup_retention_days", default=0),
            encryption_key="KmsKeyId" in file_system.properties,
            efa_enabled=_boolean(file_system, "efa_enabled"),
            data_compression_type=request_terms(
                file_system.get(_CONFIGURATION, "DataCompressionType", default="NONE")
            ),
        )
        for fault in faults:
            path = _PROPERTIES.get(str(fault.path[0]), ()) if fault.path else ()
            yield failed(file_system, *path, found=fault.message, allowed="", severity=fault.severity)
        if not faults:
            yield passed(file_system)


def _number(file_system: Resource, name: str, *, default: int | None = None) -> Any:
    value = file_system.get(*_PROPERTIES[name], default=default)
    if isinstance(value, Unresolved):
        return UNKNOWN
    number = integer(value)
    return value if number is None else number


def _boolean(file_system: Resource, name: str) -> Any:
    value = file_system.get(*_PROPERTIES[name], default=False)
    return UNKNOWN if isinstance(value, Unresolved) else bool(truth(value))


RULE = Rule(
    id="LustreSettings",
    title="FSx takes the file system's settings together",
    severity="error",
    why="FSx refuses other sizes and combinations at deployment, and the whole stack rolls back.",
    fix="change the property as the finding says",
    source="FSx API reference, CreateFileSystem and CreateFileSystemLustreConfiguration",
    check=check,
)
