"""Custom resource: back an FSx file system up before CloudFormation deletes it.

Runs inline in AWS Lambda, where CloudFormation adds the module cfnresponse.
"""

import time
from collections.abc import Callable
from typing import Any

import botocore.session
import cfnresponse  # type: ignore[import-not-found]

MARGIN_MS = 60_000
PAUSE_S = 15


class NotYet(Exception):
    """The backup needs longer than one run; Lambda invokes an asynchronous event twice more."""


def back_up(fsx: Any, file_system_id: str, token: str, has_time: Callable[[], bool]) -> None:
    """Take a backup and wait until it is usable; a later run with the same token finds the same backup."""
    backup: dict[str, Any] | None = None
    while has_time():
        try:
            if backup is None:
                backup = fsx.create_backup(
                    FileSystemId=file_system_id,
                    ClientRequestToken=token,
                    Tags=[{"Key": "Name", "Value": f"final backup of {file_system_id}"}],
                )["Backup"]
            else:
                (backup,) = fsx.describe_backups(BackupIds=[backup["BackupId"]])["Backups"]
        except fsx.exceptions.FileSystemNotFound:
            return
        except fsx.exceptions.BackupInProgress:
            time.sleep(PAUSE_S)
            continue
        if backup["Lifecycle"] == "AVAILABLE":
            return
        if backup["Lifecycle"] in ("FAILED", "DELETED"):
            reason = backup.get("FailureDetails", {}).get("Message", "no reason given")
            raise RuntimeError(f"{backup['BackupId']} is {backup['Lifecycle']}: {reason}")
        time.sleep(PAUSE_S)
    raise NotYet(file_system_id)


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation. Only deletion does anything; a failed backup keeps the file system."""
    file_system_id = event["ResourceProperties"]["FileSystemId"]
    if event.get("PhysicalResourceId", "").startswith("fs-") and event["RequestType"] == "Delete":
        file_system_id = event["PhysicalResourceId"]
    try:
        if event["RequestType"] == "Delete":
            fsx = botocore.session.get_session().create_client("fsx")
            token = event["RequestId"]
            back_up(fsx, file_system_id, token, lambda: context.get_remaining_time_in_millis() > MARGIN_MS)
    except NotYet:
        raise
    except Exception as error:
        reason = f"no final backup of {file_system_id}: {error}"
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, file_system_id, reason=reason)
        return
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, file_system_id)
