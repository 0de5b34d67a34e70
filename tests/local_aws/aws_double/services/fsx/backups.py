"""Backups of Lustre file systems."""

from __future__ import annotations

from typing import Any

from aws_double import ACCOUNT
from aws_double.progress import BACKUP_SECONDS, Progress
from aws_double.service_api import ApiError, Request, page
from aws_double.services.fsx.api import API, Backup, FileSystem, FileSystems, new_id, region_of, tagged
from aws_double.services.fsx.description import describe as describe_file_system
from hyperpod_model.catalog.lustre import DEPLOYMENT_TYPES

_TYPE = "USER_INITIATED"


@API.operation("CreateBackup")
def create_backup(request: Request) -> dict[str, Any]:
    state, asked = region_of(request), request.asked
    if "FileSystemId" not in asked:
        raise ApiError("BadRequest", "FileSystemId: backups of volumes are not in this double.")
    token = asked.get("ClientRequestToken")
    for backup in state.backups.values():
        if token is not None and backup.token == token:
            return {"Backup": describe(backup)}
    found = state.available(asked["FileSystemId"])
    return {"Backup": describe(back_up(state, found, tags=asked.get("Tags", []), token=token))}


@API.operation("DescribeBackups")
def describe_backups(request: Request) -> dict[str, Any]:
    state, asked = region_of(request), request.asked
    if "BackupIds" in asked:
        found = [_backup(state, backup_id) for backup_id in asked["BackupIds"]]
    else:
        found = list(state.backups.values())
    for one in asked.get("Filters", []):
        found = [backup for backup in found if _matches(backup, one["Name"], one["Values"])]
    shown, more = page(
        [describe(backup) for backup in found], asked, size=100, limit="MaxResults", token="NextToken"
    )
    return {"Backups": shown, **more}


@API.operation("DeleteBackup")
def delete_backup(request: Request) -> dict[str, Any]:
    state = region_of(request)
    backup = _backup(state, request.asked["BackupId"])
    if not backup.progress.is_done:
        raise ApiError("BackupInProgress", f"Backup '{backup.id}' is not complete.")
    del state.backups[backup.id]
    return {"BackupId": backup.id, "Lifecycle": "DELETED"}


def back_up(
    state: FileSystems, found: FileSystem, *, tags: list[dict[str, str]], token: str | None
) -> Backup:
    """Take a backup.

    Raises:
        ApiError: If there is no backup of such a file system, or another one is being taken.
    """
    known = DEPLOYMENT_TYPES.get(found.deployment_type)
    if found.type != "LUSTRE" or known is None or not known.backups:
        raise ApiError(
            "UnsupportedOperation", f"There are no backups of {found.type} {found.deployment_type}."
        )
    if state.linked(found.id):
        raise ApiError("UnsupportedOperation", f"File system '{found.id}' is linked to a data repository.")
    if any(
        not one.progress.is_done and one.file_system["FileSystemId"] == found.id
        for one in state.backups.values()
    ):
        raise ApiError("BackupInProgress", f"Another backup of '{found.id}' is in progress.")
    configuration = found.asked.get("LustreConfiguration", {})
    copied = found.asked.get("Tags", []) if configuration.get("CopyTagsToBackups") and not tags else []
    backup = Backup(
        id=new_id("backup"),
        region=found.region,
        file_system=describe_file_system(found),
        asked=dict(found.asked),
        tags=[*copied, *tags],
        token=token,
        progress=Progress("CREATING", "AVAILABLE", setting=BACKUP_SECONDS),
    )
    state.backups[backup.id] = backup
    return backup


def describe(backup: Backup) -> dict[str, Any]:
    """Say of a backup what ``DescribeBackups`` says."""
    key = {"KmsKeyId": backup.asked["KmsKeyId"]} if "KmsKeyId" in backup.asked else {}
    return {
        "BackupId": backup.id,
        "Lifecycle": backup.progress.state,
        "Type": _TYPE,
        "CreationTime": backup.created,
        "ResourceARN": backup.arn,
        **tagged(backup.tags),
        "FileSystem": backup.file_system,
        "OwnerId": ACCOUNT,
        "ResourceType": "FILE_SYSTEM",
        "ProgressPercent": 100 if backup.progress.is_done else 0,
        **key,
    }


def _backup(state: FileSystems, backup_id: str) -> Backup:
    if backup_id not in state.backups:
        raise ApiError("BackupNotFound", f"Backup '{backup_id}' does not exist.")
    return state.backups[backup_id]


def _matches(backup: Backup, name: str, values: list[str]) -> bool:
    known = {
        "file-system-id": backup.file_system["FileSystemId"],
        "file-system-type": backup.file_system["FileSystemType"],
        "backup-type": _TYPE,
    }
    if name not in known:
        raise ApiError(
            "BadRequest", f"The filter {name} is not in this double, which has {', '.join(known)}."
        )
    return known[name] in values
