"""Keys and log groups: each comes, changes and goes as the API tells."""

from __future__ import annotations

import pytest
import read_back.kms
import read_back.logs  # noqa: F401
from identities import ROOT_ARN, allow, document
from local_resources import create, delete
from told import live

from aws_double.resource import Resource
from aws_double.session import Session

KEY_POLICY = document(allow("kms:*", Principal={"AWS": ROOT_ARN}))
RED, BLUE = [{"Key": "colour", "Value": "red"}], [{"Key": "shade", "Value": "blue"}]


@pytest.fixture
def key(root: Session) -> Resource:
    return create(root, "AWS::KMS::Key", KeyPolicy=KEY_POLICY)


def test_key_and_alias(root: Session, key: Resource) -> None:
    live(
        root,
        "AWS::KMS::Key",
        {"KeyPolicy": KEY_POLICY},
        {"KeyPolicy": KEY_POLICY, "EnableKeyRotation": True, "Description": "data", "Tags": RED},
        {"KeyPolicy": {**KEY_POLICY, "Id": "changed"}, "EnableKeyRotation": False, "Tags": BLUE},
        {"KeyPolicy": KEY_POLICY, "Enabled": False},
    )
    other = create(root, "AWS::KMS::Key", KeyPolicy=KEY_POLICY)
    live(
        root,
        "AWS::KMS::Alias",
        {"AliasName": "alias/data", "TargetKeyId": key.physical_id},
        {"AliasName": "alias/data", "TargetKeyId": other.attributes["Arn"]},
    )


@pytest.mark.parametrize(("properties", "days"), [({}, 30), ({"PendingWindowInDays": 7}, 7)])
def test_deleted_key_waits(root: Session, properties: dict[str, int], days: int) -> None:
    made = create(root, "AWS::KMS::Key", KeyPolicy=KEY_POLICY, **properties)
    delete(root, made)
    metadata = root.client("kms").describe_key(KeyId=made.physical_id)["KeyMetadata"]
    assert metadata["KeyState"] == "PendingDeletion"
    waits = metadata["DeletionDate"] - metadata["CreationDate"]
    assert waits.days in (days - 1, days)


def test_log_group(root: Session, key: Resource) -> None:
    live(
        root,
        "AWS::Logs::LogGroup",
        {},
        {"RetentionInDays": 30, "Tags": RED},
        {"RetentionInDays": 365, "Tags": BLUE},
        {},
    )
