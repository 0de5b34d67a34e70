"""The scripts that nodes run when they join."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.cluster_spec.known import known
from hyperpod_model.cluster_spec.slurm import SlurmMode
from hyperpod_model.cluster_spec.spec_model import SpecModel, schema_of
from hyperpod_model.faults import UNKNOWN

DEFAULT_ENTRY_POINTS: dict[SlurmMode, str] = {"api": "on_init_complete.sh", "lifecycle": "on_create.sh"}

_LIFECYCLE = instance_group().at("LifeCycleConfig")


class LifecycleScriptsSpec(SpecModel):
    """The lifecycle scripts of all groups: a folder that is uploaded, or a location that is used as it is."""

    folder: str | None = Field(
        default=None,
        description=(
            "Folder whose content is uploaded, relative to this file. By default the package's own scripts, "
            "unless source_s3_uri is given; with EKS none."
        ),
    )
    entry_point: str | None = Field(
        default=None,
        description=(
            "File name of the script that HyperPod starts. By default on_init_complete.sh in slurm.mode "
            "'api' and on_create.sh in 'lifecycle' and with EKS."
        ),
        json_schema_extra=schema_of(_LIFECYCLE.at("OnCreate")),
    )
    source_s3_uri: str | None = Field(
        default=None,
        description=(
            "Where scripts already are, such as s3://bucket/prefix/. They are used as they are: nothing is "
            "uploaded, checked or locked, and the execution role must be able to read them. By default "
            "scripts are uploaded."
        ),
        json_schema_extra=schema_of(_LIFECYCLE.at("SourceS3Uri")),
    )


class GroupLifecycleScriptsSpec(SpecModel):
    """Lifecycle scripts of one group, where they differ from those of the cluster."""

    source_s3_uri: str | None = Field(
        default=None,
        description=(
            "Where this group's scripts are, used as they are. By default where the cluster's scripts are."
        ),
        json_schema_extra=schema_of(_LIFECYCLE.at("SourceS3Uri")),
    )
    on_create: str | None = Field(
        default=None,
        description=(
            "File name of the script that sets the node up, in place of the service's own set-up. Not "
            "together with on_init_complete. By default as lifecycle_scripts.entry_point says."
        ),
        json_schema_extra=schema_of(_LIFECYCLE.at("OnCreate")),
    )
    on_init_complete: str | None = Field(
        default=None,
        description=(
            "File name of the script that runs once the service's own set-up is complete. Not together with "
            "on_create. By default as lifecycle_scripts.entry_point says."
        ),
        json_schema_extra=schema_of(_LIFECYCLE.at("OnInitComplete")),
    )


def scripts_of(scripts: Any, orchestrator: Any) -> Any:
    """Lifecycle scripts of a cluster with the default applied, None where nodes run none.

    The package's own scripts are for nodes with Slurm: with EKS, HyperPod sets nodes up by itself.

    Args:
        scripts: What the specification says; may be ``UNKNOWN``.
        orchestrator: ``slurm`` or ``eks``; may be ``UNKNOWN``.
    """
    if scripts is None or not known(scripts):
        return scripts
    if not known(orchestrator):
        return UNKNOWN
    if orchestrator == "eks" and scripts.folder is None and scripts.source_s3_uri is None:
        return None
    return scripts
