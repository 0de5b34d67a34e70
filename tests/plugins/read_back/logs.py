"""Reads log groups back."""

from __future__ import annotations

from typing import Any

from read_back import Clients, reads
from read_back.parts import copied, tags


@reads("AWS::Logs::LogGroup")
def log_group(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a log group."""
    logs = clients.client("logs")
    pages = logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=physical_id)
    (found,) = (
        group for page in pages for group in page["logGroups"] if group["logGroupName"] == physical_id
    )
    told = copied(found, "LogGroupName", "RetentionInDays", "KmsKeyId", capital=True)
    found_tags = logs.list_tags_for_resource(resourceArn=found["arn"].removesuffix(":*"))["tags"]
    return told | tags(found_tags.items(), wanted)
