"""Which sizes, speeds and options FSx for Lustre takes together."""

from __future__ import annotations

from hyperpod_model.catalog.lustre import (
    COMPRESSION_TYPES,
    DEPLOYMENT_TYPES,
    EFA_CAPACITY_STEPS_GIB,
    MAX_BACKUP_RETENTION_DAYS,
    DeploymentType,
)
from hyperpod_model.faults import Fault, Unknown


def check_lustre(
    *,
    deployment_type: str | Unknown,
    storage_capacity_gib: int | Unknown,
    throughput_mbps_per_tib: int | Unknown | None,
    backup_retention_days: int | Unknown = 0,
    final_backup: bool = False,
    encryption_key: bool = False,
    efa_enabled: bool | Unknown = False,
    data_compression_type: str | Unknown = "NONE",
) -> list[Fault]:
    """Check the settings of a file system with SSD storage.

    Source: FSx API reference, CreateFileSystem.

    Args:
        deployment_type: Such as ``PERSISTENT_2``.
        storage_capacity_gib: Storage capacity in GiB.
        throughput_mbps_per_tib: Throughput in MB/s for each TiB of storage. None where the type takes none.
        backup_retention_days: Days that automatic backups are kept; 0 for none.
        final_backup: Whether a backup is wanted when the file system is deleted.
        encryption_key: Whether a KMS key is named.
        efa_enabled: Whether clients shall reach it through EFA.
        data_compression_type: ``NONE`` or ``LZ4``.

    Returns:
        Every fault found, with the path of the argument.
    """
    faults = [
        *_check_retention(backup_retention_days),
        *_check_choice("data_compression_type", data_compression_type, COMPRESSION_TYPES),
        *_check_choice("deployment_type", deployment_type, tuple(DEPLOYMENT_TYPES)),
    ]
    if isinstance(deployment_type, Unknown) or deployment_type not in DEPLOYMENT_TYPES:
        return faults
    chosen = DEPLOYMENT_TYPES[deployment_type]
    of_capacity = _check_capacity(chosen, storage_capacity_gib)
    if efa_enabled is True and chosen.efa and not of_capacity:
        of_capacity = _check_efa_capacity(storage_capacity_gib, throughput_mbps_per_tib)
    faults += of_capacity
    faults += _check_throughput(chosen, throughput_mbps_per_tib)
    with_backups = ", ".join(name for name, other in DEPLOYMENT_TYPES.items() if other.backups)
    if final_backup and not chosen.backups:
        faults.append(
            Fault(
                ("removal",),
                f"{chosen.name} has no backups, so no final one; retain it or use {with_backups}",
            )
        )
    if not chosen.backups and not isinstance(backup_retention_days, Unknown) and backup_retention_days != 0:
        faults.append(
            Fault(
                ("backup_retention_days",),
                f"must be 0 for {chosen.name}, which has no backups, got {backup_retention_days!r}; use "
                f"{with_backups}",
            )
        )
    if encryption_key and not chosen.encryption_key:
        with_keys = ", ".join(name for name, other in DEPLOYMENT_TYPES.items() if other.encryption_key)
        faults.append(
            Fault(
                ("kms_key",),
                f"{chosen.name} is always encrypted with a key of the service; leave the key out or use "
                f"{with_keys}",
            )
        )
    if efa_enabled is True and not chosen.efa:
        with_efa = ", ".join(name for name, other in DEPLOYMENT_TYPES.items() if other.efa)
        faults.append(Fault(("efa_enabled",), f"{chosen.name} cannot be reached through EFA; use {with_efa}"))
    return faults


def _check_capacity(chosen: DeploymentType, capacity: object) -> list[Fault]:
    if isinstance(capacity, Unknown):
        return []
    firsts = ", ".join(str(size) for size in chosen.first_capacities_gib)
    allowed = f"{firsts} or a multiple of {chosen.capacity_step_gib} GiB"
    if not isinstance(capacity, int) or isinstance(capacity, bool):
        return [Fault(("storage_capacity_gib",), f"must be {allowed}, got {capacity!r}")]
    if chosen.takes_capacity(capacity):
        return []
    near = " or ".join(str(size) for size in chosen.nearest_capacities(capacity))
    return [
        Fault(("storage_capacity_gib",), f"must be {allowed} for {chosen.name}, got {capacity}; use {near}")
    ]


def _check_efa_capacity(capacity: int | Unknown, throughput: int | Unknown | None) -> list[Fault]:
    if isinstance(capacity, Unknown) or isinstance(throughput, Unknown):
        return []
    step = None if throughput is None else EFA_CAPACITY_STEPS_GIB.get(throughput)
    if step is None or capacity % step == 0:
        return []
    near = " or ".join(str(size) for size in (capacity // step * step, (capacity // step + 1) * step) if size)
    return [
        Fault(
            ("storage_capacity_gib",),
            f"must be a multiple of {step} GiB for EFA at {throughput} MB/s for each TiB, got {capacity}; "
            f"use {near}, or another throughput_mbps_per_tib",
        )
    ]


def _check_throughput(chosen: DeploymentType, throughput: object) -> list[Fault]:
    if isinstance(throughput, Unknown):
        return []
    if not chosen.throughputs:
        if throughput is None:
            return []
        return [
            Fault(("throughput_mbps_per_tib",), f"must be left out for {chosen.name}, got {throughput!r}")
        ]
    if throughput in chosen.throughputs and not isinstance(throughput, bool):
        return []
    allowed = ", ".join(str(value) for value in chosen.throughputs)
    return [
        Fault(("throughput_mbps_per_tib",), f"must be one of {allowed} for {chosen.name}, got {throughput!r}")
    ]


def _check_retention(days: object) -> list[Fault]:
    if isinstance(days, Unknown):
        return []
    if isinstance(days, int) and not isinstance(days, bool) and 0 <= days <= MAX_BACKUP_RETENTION_DAYS:
        return []
    return [
        Fault(
            ("backup_retention_days",),
            f"must be from 0 (no automatic backups) to {MAX_BACKUP_RETENTION_DAYS}, got {days!r}",
        )
    ]


def _check_choice(name: str, value: object, allowed: tuple[str, ...]) -> list[Fault]:
    if isinstance(value, Unknown) or value in allowed:
        return []
    return [Fault((name,), f"must be one of {', '.join(allowed)}, got {value!r}")]
