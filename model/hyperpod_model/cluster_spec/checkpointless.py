"""Checkpointless training: what it asks of a cluster and its jobs."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.spec_files.spec_model import SpecModel


class CheckpointlessSpec(SpecModel):
    """What the jobs use for checkpointless training, so that its prerequisites can be checked. EKS only."""

    operator_version: str = Field(
        description="Version of the HyperPod training operator, such as 1.2.0 in quotes."
    )
    framework: str = Field(description="Training framework of the jobs, such as Nemo.")
    data_format: str = Field(description="Format of the training data, such as ARROW.")
    image_uri: str = Field(
        description=(
            "URI of the container image of the jobs, in a registry of a region that publishes AWS's images "
            "or in your own."
        )
    )
    durable_interval_steps: int = Field(
        description=(
            "Training steps from one durable checkpoint to the next: peers restore a lost node only while "
            "some replica of its state is alive."
        ),
        json_schema_extra={"minimum": 1},
    )
    package_version: str = Field(
        description="Version of AWS's checkpointless training package in the image, such as 1.0.1 in quotes."
    )
