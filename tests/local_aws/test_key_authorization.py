"""Keys behind the objects of a bucket: who may not use the key may neither write nor read."""

from __future__ import annotations

from typing import Any

import pytest
from identities import ROOT_ARN, a_role, allow, as_role, document
from local_resources import create, delete
from s3_callers import lets, upload_in_parts

from aws_double.resource import Resource
from aws_double.services.authorization import allowed
from aws_double.session import Session

TO_ACCOUNT = allow("kms:*", Principal={"AWS": ROOT_ARN})
ALL_OF_S3 = allow("s3:*")


def bucket_with(root: Session, key: Resource, *, bucket_key: bool = True) -> str:
    rule = {
        "BucketKeyEnabled": bucket_key,
        "ServerSideEncryptionByDefault": {
            "SSEAlgorithm": "aws:kms",
            "KMSMasterKeyID": key.attributes["Arn"],
        },
    }
    return create(
        root, "AWS::S3::Bucket", BucketEncryption={"ServerSideEncryptionConfiguration": [rule]}
    ).physical_id


def a_key(root: Session, *statements: dict[str, Any]) -> Resource:
    return create(root, "AWS::KMS::Key", KeyPolicy=document(*statements))


def uses(session: Session, bucket: str) -> tuple[bool, bool, bool]:
    """Whether a caller may write an object, write one in parts, and read one."""
    s3 = session.client("s3")
    return (
        lets(lambda: s3.put_object(Bucket=bucket, Key="own", Body=b"1")),
        lets(lambda: upload_in_parts(s3, bucket, "parts")),
        lets(lambda: s3.get_object(Bucket=bucket, Key="there")),
    )


@pytest.mark.parametrize(
    ("actions", "may"),
    [
        ([], (False, False, False)),
        (["kms:GenerateDataKey"], (True, False, False)),
        (["kms:Decrypt"], (False, False, True)),
        (["kms:GenerateDataKey", "kms:Decrypt"], (True, True, True)),
    ],
)
def test_key_that_hands_over_to_identity_policies(
    root: Session, actions: list[str], may: tuple[bool, bool, bool]
) -> None:
    key = a_key(root, TO_ACCOUNT)
    bucket = bucket_with(root, key)
    root.client("s3").put_object(Bucket=bucket, Key="there", Body=b"1")
    of_key = [allow(*actions, resource=key.attributes["Arn"])] if actions else []
    assert uses(as_role(root, a_role(root, ALL_OF_S3, *of_key)), bucket) == may


def test_key_policy_names_the_role(root: Session) -> None:
    role = a_role(root, ALL_OF_S3)
    administer = allow("kms:Describe*", "kms:Put*", "kms:ScheduleKeyDeletion", Principal={"AWS": ROOT_ARN})
    named = allow(
        *("kms:GenerateDataKey", "kms:Decrypt"),
        Principal={"AWS": role.attributes["Arn"]},
        Condition={"StringEquals": {"kms:ViaService": "s3.us-west-2.amazonaws.com"}},
    )
    key = a_key(root, administer, named)
    bucket = bucket_with(root, key)
    as_role(root, role).client("s3").put_object(Bucket=bucket, Key="there", Body=b"1")
    assert uses(as_role(root, role), bucket) == (True, True, True)
    # Identity policies have no say where the key's policy does not hand over to them.
    powerful = a_role(root, ALL_OF_S3, allow("kms:*"), logical_id="Powerful")
    assert uses(as_role(root, powerful), bucket) == (False, False, False)
    arn = key.attributes["Arn"]
    assert not allowed(powerful.attributes["Arn"], "kms:Decrypt", arn, {})
    assert not allowed(role.attributes["Arn"], "kms:Decrypt", arn, {})  # not through S3
    via = {"kms:ViaService": "s3.us-west-2.amazonaws.com"}
    assert allowed(role.attributes["Arn"], "kms:Decrypt", arn, via)


@pytest.mark.parametrize("bucket_key", [True, False])
def test_encryption_context_is_the_bucket_with_a_bucket_key(root: Session, bucket_key: bool) -> None:
    key = a_key(root, TO_ACCOUNT)
    bucket = bucket_with(root, key, bucket_key=bucket_key)
    context = {"StringEquals": {"kms:EncryptionContext:aws:s3:arn": f"arn:aws:s3:::{bucket}"}}
    of_bucket = allow("kms:GenerateDataKey", resource=key.attributes["Arn"], Condition=context)
    s3 = as_role(root, a_role(root, ALL_OF_S3, of_bucket)).client("s3")
    assert lets(lambda: s3.put_object(Bucket=bucket, Key="own", Body=b"1")) is bucket_key


def test_key_that_waits_for_its_deletion_serves_nobody(root: Session) -> None:
    key = a_key(root, TO_ACCOUNT)
    bucket = bucket_with(root, key)
    s3 = root.client("s3")
    s3.put_object(Bucket=bucket, Key="there", Body=b"1")
    assert allowed(ROOT_ARN, "s3:GetObject", f"arn:aws:s3:::{bucket}/there", {})
    delete(root, key)
    assert not lets(lambda: s3.get_object(Bucket=bucket, Key="there"))
    assert not lets(lambda: s3.put_object(Bucket=bucket, Key="own", Body=b"1"))
    assert not allowed(ROOT_ARN, "s3:GetObject", f"arn:aws:s3:::{bucket}/there", {})


def test_bucket_with_the_managed_key_asks_for_nothing(root: Session) -> None:
    rule = {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms"}}
    bucket = create(
        root, "AWS::S3::Bucket", BucketEncryption={"ServerSideEncryptionConfiguration": [rule]}
    ).physical_id
    root.client("s3").put_object(Bucket=bucket, Key="there", Body=b"1")
    assert uses(as_role(root, a_role(root, ALL_OF_S3)), bucket) == (True, True, True)


def test_verdict_on_reading_counts_the_key(root: Session) -> None:
    key = a_key(root, TO_ACCOUNT)
    bucket = bucket_with(root, key)
    root.client("s3").put_object(Bucket=bucket, Key="there", Body=b"1")
    reader, keyless = (
        a_role(root, allow("s3:GetObject", *more)).attributes["Arn"] for more in (["kms:Decrypt"], [])
    )
    there = f"arn:aws:s3:::{bucket}/there"
    assert allowed(reader, "s3:GetObject", there, {})
    assert not allowed(keyless, "s3:GetObject", there, {})
