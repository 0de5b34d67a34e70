"""What is on the file system alone is backed up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperpod_model.catalog.lustre import DEPLOYMENT_TYPES
from hyperpod_policy.lustre_file_systems import exports, lustre_file_systems
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved, integer, single

_PATH: Final = ("LustreConfiguration", "AutomaticBackupRetentionDays")
_ALLOWED: Final = "daily backups, kept for a day or more, or an association that exports to S3"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the automatic backups of each file system that can have them."""
    for file_system in lustre_file_systems(template):
        kind = single(file_system.get("LustreConfiguration", "DeploymentType", default="SCRATCH_1"))
        if kind not in DEPLOYMENT_TYPES or not DEPLOYMENT_TYPES[kind].backups:
            continue  # another rule speaks about scratch
        value = file_system.get(*_PATH, default=0)
        days = integer(value)
        if exports(template, file_system):
            yield passed(file_system, *_PATH)
        elif isinstance(value, Unresolved):
            yield undetermined(file_system, *_PATH, found=f"is {value}", allowed=_ALLOWED)
        elif days == 0:
            yield failed(file_system, *_PATH, found="takes no automatic backups", allowed=_ALLOWED)
        else:
            yield passed(file_system, *_PATH)


RULE = Rule(
    id="LustreBackups",
    title="what is on the file system alone is backed up",
    severity="warning",
    why=(
        "A persistent file system survives its servers, and neither a job that deletes the wrong folder nor "
        "whoever deletes the file system. FSx takes no backups unless it is told to."
    ),
    fix="set AutomaticBackupRetentionDays, or export what is written to S3 by a data repository association",
    source="FSx for Lustre user guide, using backups (automatic daily backups)",
    check=check,
)
