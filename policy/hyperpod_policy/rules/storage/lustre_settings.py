"""The file system's settings are ones that FSx takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_model.catalog.lustre import DEPLOYMENT_TYPES, OTHER_STORAGE_TYPES
from hyperpod_model.checks.lustre import check_lustre
from hyperpod_model.faults import UNKNOWN, FaultPath
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Expression, Unresolved, integer, request_terms, single, truth

_CONFIGURATION = "LustreConfiguration"
_STORAGE = f"SSD, {', '.join(OTHER_STORAGE_TYPES)}"
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
        storage = single(file_system.get("StorageType", default="SSD"))
        if isinstance(storage, Unresolved):
            yield undetermined(file_system, "StorageType", found=f"is {storage}", allowed=_STORAGE)
            continue
        if storage != "SSD":
            verdicts = [*_on_other_storage(file_system, storage)]
            yield from verdicts if verdicts else [passed(file_system)]
            continue
        faults = check_lustre(
            deployment_type=request_terms(_deployment_type(file_system)),
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
            yield _unclear(file_system)


def _unclear(file_system: Resource) -> Verdict:
    for path in _PROPERTIES.values():
        value = file_system.get(*path)
        if isinstance(value, Unresolved) and path != ("KmsKeyId",):
            return undetermined(
                file_system, *path, found=f"is {value}", allowed="what FSx takes with the rest"
            )
    return passed(file_system)


def _on_other_storage(file_system: Resource, storage: Any) -> Iterator[Verdict]:
    path = (_CONFIGURATION, "DeploymentType")
    kind = _deployment_type(file_system)
    if storage not in OTHER_STORAGE_TYPES:
        yield failed(file_system, "StorageType", found=f"is {storage}", allowed=_STORAGE)
    elif isinstance(kind, Unresolved):
        yield undetermined(file_system, *path, found=f"is {kind}", allowed=_types_with(storage))
    elif kind not in OTHER_STORAGE_TYPES[storage]:
        found = f"{kind} takes no {storage} storage"
        yield failed(file_system, *path, found=found, allowed=_types_with(storage))
    elif (
        truth(file_system.get(_CONFIGURATION, "EfaEnabled", default=False)) and not DEPLOYMENT_TYPES[kind].efa
    ):
        found = f"{kind} cannot be reached through EFA"
        yield failed(file_system, _CONFIGURATION, "EfaEnabled", found=found, allowed="false")


def _deployment_type(file_system: Resource) -> Any:
    """Return the deployment type; a file system from a backup has by default that of the backup."""
    from_backup = "BackupId" in file_system.properties
    default = Expression("DeploymentType", "of the backup") if from_backup else "SCRATCH_1"
    return single(file_system.get(_CONFIGURATION, "DeploymentType", default=default))


def _types_with(storage: str) -> str:
    return f"{' or '.join(OTHER_STORAGE_TYPES[storage])} for {storage}"


def _number(file_system: Resource, name: str, *, default: int | None = None) -> Any:
    if name == "storage_capacity_gib" and "BackupId" in file_system.properties:
        return UNKNOWN  # by default that of the backup
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
