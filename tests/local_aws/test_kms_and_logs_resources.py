"""Keys and log groups: each comes, changes and goes as the API tells."""

from __future__ import annotations

from typing import Any

import pytest
import read_back.kms
import read_back.logs  # noqa: F401
from botocore.exceptions import ClientError
from identities import ROOT_ARN, allow, document
from local_resources import create, delete, update
from told import assert_told, live

from aws_double.resource import Resource, ResourceFailure
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


def test_log_group(root: Session) -> None:
    live(
        root,
        "AWS::Logs::LogGroup",
        {},
        {"RetentionInDays": 30, "Tags": RED},
        {"RetentionInDays": 365, "Tags": BLUE},
        {},
    )


def logs_may_use(**condition: Any) -> dict[str, Any]:
    used = ("kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey")
    service = {"Service": "logs.us-west-2.amazonaws.com"}
    return allow(*used, Principal=service, Condition={"ArnLike": condition})


@pytest.mark.parametrize(
    ("groups", "may"),
    [
        ("arn:aws:logs:us-west-2:111122223333:log-group:*", True),
        ("arn:aws:logs:us-west-2:111122223333:log-group:other", False),
        (None, False),
    ],
)
def test_key_of_a_log_group_lets_the_service_in(root: Session, groups: str | None, may: bool) -> None:
    to_service = [logs_may_use(**{"kms:EncryptionContext:aws:logs:arn": groups})] if groups else []
    to_account = allow("kms:*", Principal={"AWS": ROOT_ARN})
    key = create(root, "AWS::KMS::Key", KeyPolicy=document(to_account, *to_service)).attributes["Arn"]
    if may:
        made = create(root, "AWS::Logs::LogGroup", KmsKeyId=key)
        assert_told(root, made)
        with pytest.raises(ResourceFailure, match="KmsKeyId has no update"):
            update(root, made)
        return
    with pytest.raises(ClientError, match="does not let CloudWatch Logs use it"):
        create(root, "AWS::Logs::LogGroup", KmsKeyId=key)
