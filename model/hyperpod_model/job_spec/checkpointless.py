"""Checkpointless training of a job."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.spec_files.spec_model import SpecModel

CheckpointlessTier = Literal[1, 2, 3, 4]


class CheckpointlessTrainingSpec(SpecModel):
    """How much of checkpointless training the job uses. The image is the job's, and has no default.

    The training code has to do its part: from tier 2 its data module is wrapped, from 3 its training loop,
    and for 4 strategy and callbacks are the package's own.
    """

    tier: CheckpointlessTier = Field(
        description=(
            "1: NCCL and Gloo start without a root process. 2: also the data loader is memory-mapped. 3: "
            "also "
            "processes restart in place. 4: also their state comes from peers."
        )
    )
    framework: str = Field(description="Training framework of the job, such as Nemo.")
    data_format: str = Field(description="Format of the training data, such as ARROW.")
    package_version: str = Field(
        description="Version of AWS's checkpointless training package in the image, such as 1.0.1 in quotes."
    )
    distributed_optimizer_instances: int | None = Field(
        default=None,
        description=(
            "num_distributed_optimizer_instances of the training code: replicas of the optimizer's state, 2 "
            "or more. Required unless tier is less than 4."
        ),
        json_schema_extra={"minimum": 1},
    )
