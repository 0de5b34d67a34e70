"""Custom resource: see that the log group of a cluster's nodes exists, is encrypted, and expires.

The nodes make the group too, at the latest when their lifecycle scripts print something. Whoever is first
makes it; the other finds it. Runs inline in AWS Lambda, where CloudFormation adds the module cfnresponse.
"""

import time
from collections.abc import Callable
from typing import Any

import botocore.session
import cfnresponse  # type: ignore[import-not-found]

MARGIN_MS = 5_000
PAUSE_S = 2


def keep(logs: Any, name: str, days: int, key: str, has_time: Callable[[], bool]) -> None:
    """Make or adopt the group, and set what is to hold for it; a second run changes nothing."""
    steps: list[Callable[[], Any]] = [
        lambda: logs.create_log_group(logGroupName=name),
        lambda: logs.associate_kms_key(logGroupName=name, kmsKeyId=key),
        lambda: logs.put_retention_policy(logGroupName=name, retentionInDays=days),
    ]
    while steps:
        try:
            steps[0]()
        except logs.exceptions.ResourceAlreadyExistsException:
            pass
        except logs.exceptions.OperationAbortedException:
            # Somebody else changes the group right now, such as the first node.
            if not has_time():
                raise
            time.sleep(PAUSE_S)
            continue
        del steps[0]


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation. Deletion changes nothing: the logs outlive the cluster until they expire."""
    wanted = event["ResourceProperties"]
    name = wanted["LogGroupName"]
    try:
        if event["RequestType"] != "Delete":
            keep(
                botocore.session.get_session().create_client("logs"),
                name,
                int(wanted["RetentionInDays"]),
                wanted["KmsKeyArn"],
                lambda: context.get_remaining_time_in_millis() > MARGIN_MS,
            )
    except Exception as error:
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, name, reason=f"{name}: {error}")
        return
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, name)
