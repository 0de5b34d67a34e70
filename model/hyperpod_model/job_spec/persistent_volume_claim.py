"""Volumes that a job's pods mount."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.spec_files.spec_model import SpecModel


class PersistentVolumeClaimSpec(SpecModel):
    """A claim in the job's namespace, such as the one of the cluster's FSx for Lustre file system."""

    claim_name: str = Field(description="Name of the PersistentVolumeClaim.")
    mount_path: str = Field(description="Where it is mounted in the container, such as /fsx.")
    read_only: bool = Field(default=False, description="Whether the pods only read it. By default false.")
