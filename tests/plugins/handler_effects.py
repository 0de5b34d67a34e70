"""What the handlers of custom resources have done, looked at through the APIs of the services."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from read_back import Clients
from read_back.ec2 import group_rules


def _uploaded(clients: Clients, wanted: dict[str, Any]) -> Iterator[str]:
    """Tell which files of the sources are not at the destination as they are."""
    s3 = clients.client("s3")
    bucket, prefix = wanted["DestinationBucketName"], wanted["DestinationBucketKeyPrefix"]
    for source, key in zip(wanted["SourceBucketNames"], wanted["SourceObjectKeys"], strict=True):
        body = s3.get_object(Bucket=source, Key=key)["Body"].read()
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            for name in archive.namelist():
                if name.endswith("/"):
                    continue
                there = s3.get_object(Bucket=bucket, Key=f"{prefix}/{name}")["Body"].read()
                if there != archive.read(name):
                    yield f"{prefix}/{name} is not the file of {key}"


def _closed(clients: Clients, wanted: dict[str, Any]) -> Iterator[str]:
    """Tell which rules a security group has that should have none."""
    for direction, rules in group_rules(clients, wanted["GroupId"]).items():
        if rules:
            yield f"{wanted['GroupId']} has {direction} {rules}"


def _kept(clients: Clients, wanted: dict[str, Any]) -> Iterator[str]:
    """Tell what a log group is not that should be kept for some days and encrypted."""
    name = wanted["LogGroupName"]
    found = clients.client("logs").describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    groups = [group for group in found if group["logGroupName"] == name]
    if not groups:
        yield f"there is no log group {name}"
    for group in groups:
        for member, asked in (
            ("retentionInDays", int(wanted["RetentionInDays"])),
            ("kmsKeyId", wanted["KmsKeyArn"]),
        ):
            if group.get(member) != asked:
                yield f"{name} has {member} {group.get(member)}, not {asked}"


EFFECTS: Final[Mapping[str, Callable[[Clients, dict[str, Any]], Iterator[str]]]] = {
    "Custom::CDKBucketDeployment": _uploaded,
    "Custom::ClosedDefaultSecurityGroup": _closed,
    "Custom::NodeLogGroup": _kept,
}
"""By type: tells what is not as its handler should have made it."""
