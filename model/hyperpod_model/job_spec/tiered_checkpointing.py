"""Checkpoints of a job in the memory of the nodes."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.catalog.limits import TIERED_MEMORY_PERCENTAGE
from hyperpod_model.spec_files.spec_model import SpecModel

_LEAST, _MOST = TIERED_MEMORY_PERCENTAGE.value


class TieredCheckpointsSpec(SpecModel):
    """The job writes through the managed memory tier, and from time to time to checkpoint.s3_uri."""

    memory_interval_steps: int = Field(
        description="Training steps from one checkpoint in memory to the next.",
        json_schema_extra={"minimum": 1},
    )
    memory_percentage: int = Field(
        description=(
            f"Share of the nodes' memory that the cluster gives to checkpoints, {_LEAST} to {_MOST} percent, "
            "as in the cluster's tiered_checkpointing: pods can ask only for the rest."
        ),
        json_schema_extra={"minimum": _LEAST, "maximum": _MOST},
    )
    namespace: str | None = Field(
        default=None,
        description=(
            "Under which name the memory tier keeps the checkpoints, another one for each job. It has "
            "nothing "
            "to do with Kubernetes. By default the job's name."
        ),
    )
