"""Reads keys and their aliases back."""

from __future__ import annotations

import json
from typing import Any

from read_back import Clients, reads
from read_back.parts import copied, tags


@reads("AWS::KMS::Key")
def key(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a key.

    Raises:
        ValueError: If it awaits its deletion.
    """
    kms = clients.client("kms")
    found = kms.describe_key(KeyId=physical_id)["KeyMetadata"]
    if found["KeyState"] == "PendingDeletion":
        raise ValueError(f"{physical_id} goes on {found['DeletionDate']}")
    told = copied(found, "Description", "Enabled", "KeySpec", "KeyUsage")
    told = {name: value for name, value in told.items() if value != ""}
    rotation = kms.get_key_rotation_status(KeyId=physical_id)
    told["EnableKeyRotation"] = rotation["KeyRotationEnabled"]
    told |= copied(rotation, "RotationPeriodInDays")
    told["KeyPolicy"] = json.loads(kms.get_key_policy(KeyId=physical_id, PolicyName="default")["Policy"])
    found_tags = kms.list_resource_tags(KeyId=physical_id)["Tags"]
    return told | tags(((tag["TagKey"], tag["TagValue"]) for tag in found_tags), wanted)


@reads("AWS::KMS::Alias")
def alias(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read another name of a key. The template may say the key by id or by ARN."""
    pages = clients.client("kms").get_paginator("list_aliases").paginate()
    (found,) = (item for page in pages for item in page["Aliases"] if item["AliasName"] == physical_id)
    target = found["TargetKeyId"]
    asked = wanted.get("TargetKeyId", "")
    return {"AliasName": physical_id, "TargetKeyId": asked if asked.endswith(f":key/{target}") else target}
