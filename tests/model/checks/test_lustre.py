from __future__ import annotations

from typing import Any

import pytest

from hyperpod_model.catalog.lustre import DEPLOYMENT_TYPES
from hyperpod_model.checks.lustre import check_lustre
from hyperpod_model.faults import UNKNOWN


def _settings(**changes: Any) -> dict[str, Any]:
    return {
        "deployment_type": "PERSISTENT_2",
        "storage_capacity_gib": 4800,
        "throughput_mbps_per_tib": 250,
        **changes,
    }


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"storage_capacity_gib": 1200, "throughput_mbps_per_tib": 1000},
        {"storage_capacity_gib": 2400, "throughput_mbps_per_tib": 125},
        {"deployment_type": "PERSISTENT_1", "throughput_mbps_per_tib": 50},
        {"deployment_type": "SCRATCH_2", "throughput_mbps_per_tib": None},
        {"deployment_type": "SCRATCH_1", "throughput_mbps_per_tib": None, "storage_capacity_gib": 3600},
        {"backup_retention_days": 0},
        {"backup_retention_days": 90, "final_backup": True, "encryption_key": True},
        {"efa_enabled": True, "storage_capacity_gib": 19_200},
        {"efa_enabled": True, "throughput_mbps_per_tib": 1000},
        {"efa_enabled": True, "storage_capacity_gib": UNKNOWN},
        {"efa_enabled": True, "throughput_mbps_per_tib": UNKNOWN},
        {"efa_enabled": UNKNOWN},
        {"data_compression_type": "LZ4"},
        {"deployment_type": UNKNOWN, "storage_capacity_gib": 1},
        {
            "storage_capacity_gib": UNKNOWN,
            "throughput_mbps_per_tib": UNKNOWN,
            "backup_retention_days": UNKNOWN,
            "efa_enabled": UNKNOWN,
            "data_compression_type": UNKNOWN,
        },
        {
            "deployment_type": "SCRATCH_2",
            "throughput_mbps_per_tib": UNKNOWN,
            "backup_retention_days": UNKNOWN,
        },
    ],
)
def test_legal_settings_pass(changes: dict[str, Any]) -> None:
    assert check_lustre(**_settings(**changes)) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"storage_capacity_gib": 5000},
            "storage_capacity_gib: must be 1200 or a multiple of 2400 GiB for PERSISTENT_2, got 5000; use "
            "4800 or 7200",
        ),
        ({"storage_capacity_gib": 0}, "storage_capacity_gib: must be 1200 or a multiple of 2400 GiB"),
        ({"storage_capacity_gib": 3600}, "storage_capacity_gib: must be 1200 or a multiple of 2400 GiB"),
        (
            {"storage_capacity_gib": "4800"},
            "storage_capacity_gib: must be 1200 or a multiple of 2400 GiB, got '4800'",
        ),
        (
            {"storage_capacity_gib": True},
            "storage_capacity_gib: must be 1200 or a multiple of 2400 GiB, got True",
        ),
        (
            {"throughput_mbps_per_tib": 200},
            "throughput_mbps_per_tib: must be one of 125, 250, 500, 1000 for PERSISTENT_2, got 200",
        ),
        ({"throughput_mbps_per_tib": None}, "throughput_mbps_per_tib: must be one of 125, 250, 500, 1000"),
        (
            {"deployment_type": "PERSISTENT_1"},
            "throughput_mbps_per_tib: must be one of 50, 100, 200 for PERSISTENT_1, got 250",
        ),
        (
            {"deployment_type": "SCRATCH_2"},
            "throughput_mbps_per_tib: must be left out for SCRATCH_2, got 250",
        ),
        (
            {"deployment_type": "PERSISTENT_3"},
            "deployment_type: must be one of SCRATCH_1, SCRATCH_2, PERSISTENT_1, PERSISTENT_2, got "
            "'PERSISTENT_3'",
        ),
        (
            {"backup_retention_days": 91},
            "backup_retention_days: must be from 0 (no automatic backups) to 90, got 91",
        ),
        (
            {"backup_retention_days": -1},
            "backup_retention_days: must be from 0 (no automatic backups) to 90, got -1",
        ),
        (
            {"deployment_type": "SCRATCH_2", "throughput_mbps_per_tib": None, "backup_retention_days": 7},
            "backup_retention_days: must be 0 for SCRATCH_2, which has no backups, got 7; use PERSISTENT_1, "
            "PERSISTENT_2",
        ),
        (
            {"deployment_type": "SCRATCH_2", "throughput_mbps_per_tib": None, "final_backup": True},
            "removal: SCRATCH_2 has no backups, so no final one; retain it or use PERSISTENT_1, PERSISTENT_2",
        ),
        (
            {"deployment_type": "SCRATCH_2", "throughput_mbps_per_tib": None, "encryption_key": True},
            "kms_key: SCRATCH_2 is always encrypted with a key of the service; leave the key out or use "
            "PERSISTENT_1",
        ),
        (
            {"deployment_type": "PERSISTENT_1", "throughput_mbps_per_tib": 50, "efa_enabled": True},
            "efa_enabled: PERSISTENT_1 cannot be reached through EFA; use PERSISTENT_2",
        ),
        (
            {"efa_enabled": True},
            "storage_capacity_gib: must be a multiple of 19200 GiB for EFA at 250 MB/s for each TiB, got 4800"
            "; use 19200, or another throughput_mbps_per_tib",
        ),
        (
            {"efa_enabled": True, "storage_capacity_gib": 24_000, "throughput_mbps_per_tib": 500},
            "storage_capacity_gib: must be a multiple of 9600 GiB for EFA at 500 MB/s for each TiB, got "
            "24000; use 19200 or 28800, or another throughput_mbps_per_tib",
        ),
        ({"data_compression_type": "ZSTD"}, "data_compression_type: must be one of NONE, LZ4, got 'ZSTD'"),
    ],
)
def test_other_settings_are_refused(changes: dict[str, Any], expected: str) -> None:
    (fault,) = check_lustre(**_settings(**changes))
    assert fault.severity == "error"
    assert str(fault).startswith(expected)


def test_all_faults_are_reported_together() -> None:
    faults = check_lustre(
        **_settings(storage_capacity_gib=1, throughput_mbps_per_tib=1, backup_retention_days=91)
    )
    assert {fault.path for fault in faults} == {
        ("storage_capacity_gib",),
        ("throughput_mbps_per_tib",),
        ("backup_retention_days",),
    }


@pytest.mark.parametrize("name", DEPLOYMENT_TYPES)
def test_the_nearest_capacities_are_legal(name: str) -> None:
    chosen = DEPLOYMENT_TYPES[name]
    for gib in range(1, 20000, 37):
        assert all(chosen.takes_capacity(near) for near in chosen.nearest_capacities(gib))
