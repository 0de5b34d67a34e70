"""Managed tiered checkpointing."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.catalog.limits import TIERED_MEMORY_PERCENTAGE
from hyperpod_model.spec_files.spec_model import SpecModel

_LEAST, _MOST = TIERED_MEMORY_PERCENTAGE.value


class TieredCheckpointingSpec(SpecModel):
    """Checkpoints in the memory of the nodes, and every so many steps in the checkpoint bucket. EKS only."""

    enabled: bool = Field(
        default=True,
        description=(
            "Whether the memory tier is on. false turns it off in so many words, which removes its daemon "
            "from a cluster that has it. By default true."
        ),
    )
    memory_percentage: int | None = Field(
        default=None,
        description=(
            f"Share of the nodes' memory for checkpoints, {_LEAST} to {_MOST} percent. Required unless "
            "enabled is false."
        ),
        json_schema_extra={"minimum": _LEAST, "maximum": _MOST},
    )
    s3_interval_steps: int | None = Field(
        default=None,
        description=(
            "Training steps from one checkpoint in the bucket to the next: the memory tier does not outlive "
            "a stop of the whole cluster. The job side reads it. Required unless enabled is false."
        ),
        json_schema_extra={"minimum": 1},
    )


def tiered_steps_due(said: TieredCheckpointingSpec | None) -> tuple[str, ...]:
    """Return what is left to do where checkpoints are tiered.

    Args:
        said: What the specification says, without errors.
    """
    if said is None or not said.enabled:
        return ()
    durable = (
        "" if said.s3_interval_steps is None else f", and to the bucket every {said.s3_interval_steps} steps"
    )
    return (
        "tiered_checkpointing: the memory tier saves nothing by itself; the step that is due: have the job "
        f"write its checkpoints through the amzn-sagemaker-checkpointing package{durable}",
    )
