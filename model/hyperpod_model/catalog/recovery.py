"""What a job goes through between a failure and the first new step, and where its state may come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hyperpod_model.catalog._tables import table

RecoveryStageName = Literal[
    "job_restart", "initialization", "checkpoint_retrieval", "data_loading", "first_step", "lost_steps"
]
TierName = Literal["process", "peer", "memory", "disk", "s3", "none"]

_TABLE = table("recovery")


@dataclass(frozen=True, slots=True)
class RecoveryStage:
    """A stage of recovery by checkpoint.

    Attributes:
        name: Its name in records and reports.
        means: What happens in it.
    """

    name: RecoveryStageName
    means: str


@dataclass(frozen=True, slots=True)
class Tier:
    """Where a job's state survives a failure.

    Attributes:
        name: Its name in records and reports.
        means: What it is.
    """

    name: TierName
    means: str


def _stage(row: dict[str, Any]) -> RecoveryStage:
    return RecoveryStage(name=row["name"], means=row["means"])


def _tier(row: dict[str, Any]) -> Tier:
    return Tier(name=row["name"], means=row["means"])


RECOVERY_STAGES: tuple[RecoveryStage, ...] = tuple(_stage(row) for row in _TABLE["stages"])
"""One after the other: each ends before the next begins. The sources also count five, divided otherwise."""

RECOVERY_TIERS: tuple[Tier, ...] = tuple(_tier(row) for row in _TABLE["tiers"])
"""The fastest first. Each survives more than the one before."""

RAY_DELETES_AFTER_UPLOAD_OPTION: str = _TABLE["ray"]["option"]
"""Option of ``ray.train.report`` that must be false with tiered checkpointing."""
