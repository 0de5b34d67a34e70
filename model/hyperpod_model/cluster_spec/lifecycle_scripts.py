"""The scripts that nodes run when they join."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.cluster_spec.request_schema import schema_of
from hyperpod_model.spec_files.spec_model import SpecModel

_LIFECYCLE = instance_group().at("LifeCycleConfig")


class LifecycleScriptsSpec(SpecModel):
    """The lifecycle scripts of all groups: a folder that is uploaded, or a location that is used as it is."""

    folder: str | None = Field(
        default=None,
        description=(
            "Folder whose content is uploaded, relative to this file. By default the package's own scripts, "
            "unless source_s3_uri is given."
        ),
    )
    entry_point: str | None = Field(
        default=None,
        description=(
            "File name of the script that HyperPod starts. By default on_init_complete.sh in slurm.mode "
            "'api' and on_create.sh in 'lifecycle'; with EKS on_init_complete.sh of the package's own "
            "scripts, and on_create.sh of others."
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
    users_file: str | None = Field(
        default=None,
        description=(
            "CSV of name, uid and home of each user, on a file system that all nodes have, such as "
            "/fsx/hyperpod/users.csv; the package's own scripts add them. Slurm only. By default no users."
        ),
    )
    shared_folder: str | None = Field(
        default=None,
        description=(
            "Folder on a file system that all nodes have, such as /fsx/hyperpod, where nodes leave each "
            "other their SSH keys; for the package's own scripts. Slurm only. By default no keys are shared."
        ),
    )
    log_files: dict[str, str] = Field(
        default={},
        description=(
            "Log files of the nodes by name of the stream, such as slurmd: /var/log/slurm/slurmd.log, that "
            "the package's own scripts ship to CloudWatch. By default what the scripts print alone."
        ),
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
