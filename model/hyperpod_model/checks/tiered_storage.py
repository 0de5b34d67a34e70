"""Managed tiered checkpointing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.catalog.limits import TIERED_MEMORY_PERCENTAGE
from hyperpod_model.checks.reading import number
from hyperpod_model.faults import Fault


def check_tiered_storage(request: Mapping[str, Any]) -> list[Fault]:
    """Check the share of memory for tiered storage."""
    path = ("TieredStorageConfig", "InstanceMemoryAllocationPercentage")
    percentage = number(request, *path)
    field = cluster_request().at(*path)
    if percentage is None or field.min is None or percentage < field.min:
        return []
    least, most = TIERED_MEMORY_PERCENTAGE.value
    if percentage < least:
        return [Fault(path, f"must be {least} to {most}, got {percentage}")]
    return []
