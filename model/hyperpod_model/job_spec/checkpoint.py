"""Where a job keeps its checkpoints."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.spec_files.spec_model import SpecModel


class CheckpointSpec(SpecModel):
    """Checkpoints of the job: on a file system, in a bucket, or both."""

    path: str | None = Field(
        default=None,
        description=(
            "Folder in the container, on one of the persistent_volume_claims, such as /fsx/checkpoints/a. By "
            "default none."
        ),
    )
    s3_uri: str | None = Field(
        default=None,
        description=(
            "Place in a bucket, such as s3://bucket/checkpoints/a. Required for tiered_checkpointing and "
            "checkpointless. By default none."
        ),
    )
    s3_interval_steps: int | None = Field(
        default=None,
        description=(
            "Training steps from one checkpoint in the bucket to the next: what is lost when all nodes stop. "
            "Required for tiered_checkpointing and checkpointless. By default left to the training code."
        ),
        json_schema_extra={"minimum": 1},
    )
    save_seconds: int | None = Field(
        default=None,
        description=(
            "Seconds that saving a checkpoint takes; the pods' grace period must be longer. By default "
            "nothing is checked."
        ),
        json_schema_extra={"minimum": 1},
    )
