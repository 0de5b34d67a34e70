"""Buckets and their policies: each comes, changes and goes, and the API tells what was asked for."""

from __future__ import annotations

from typing import Any

import pytest
import read_back.s3  # noqa: F401
from botocore.exceptions import ClientError
from identities import ROOT_ARN, allow, document
from local_resources import create, delete
from read_back import READERS
from told import assert_gone, assert_told, live

from aws_double.resource import Resource, ResourceFailure
from aws_double.session import Session

KEY_POLICY = document(allow("kms:*", Principal={"AWS": ROOT_ARN}))
CLOSED = dict.fromkeys(
    ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"), True
)
ENFORCED = {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
RED, BLUE = [{"Key": "colour", "Value": "red"}], [{"Key": "shade", "Value": "blue"}]


@pytest.fixture
def key(root: Session) -> Resource:
    return create(root, "AWS::KMS::Key", KeyPolicy=KEY_POLICY)


def test_bucket(root: Session, key: Resource) -> None:
    encrypted = {
        "ServerSideEncryptionConfiguration": [
            {
                "BucketKeyEnabled": True,
                "ServerSideEncryptionByDefault": {
                    "SSEAlgorithm": "aws:kms",
                    "KMSMasterKeyID": key.attributes["Arn"],
                },
            }
        ]
    }
    expire = {
        "Id": "expire",
        "Status": "Enabled",
        "Prefix": "old/",
        "ExpirationInDays": 30,
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
    }
    tidy = {
        "Id": "tidy",
        "Status": "Enabled",
        "ExpiredObjectDeleteMarker": True,
        "NoncurrentVersionExpiration": {"NoncurrentDays": 14},
    }
    logs = create(root, "AWS::S3::Bucket", "Logs")
    live(
        root,
        "AWS::S3::Bucket",
        {},
        {
            "BucketEncryption": encrypted,
            "LifecycleConfiguration": {"Rules": [expire, tidy]},
            "LoggingConfiguration": {"DestinationBucketName": logs.physical_id, "LogFilePrefix": "data/"},
            "OwnershipControls": ENFORCED,
            "PublicAccessBlockConfiguration": CLOSED,
            "Tags": RED,
            "VersioningConfiguration": {"Status": "Enabled"},
        },
        {
            "LifecycleConfiguration": {"Rules": [tidy]},
            "PublicAccessBlockConfiguration": {**CLOSED, "BlockPublicPolicy": False},
            "Tags": BLUE,
            "VersioningConfiguration": {"Status": "Suspended"},
        },
    )


def test_new_bucket_is_closed_encrypted_and_without_access_lists(root: Session) -> None:
    made = create(root, "AWS::S3::Bucket", AccessControl="Private")
    told = READERS[made.type](root, made.physical_id, {})
    assert told["PublicAccessBlockConfiguration"] == CLOSED
    assert told["OwnershipControls"] == ENFORCED
    (rule,) = told["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule == {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    with pytest.raises(ClientError, match="AccessControlListNotSupported"):
        root.client("s3").put_bucket_acl(Bucket=made.physical_id, ACL="public-read")


@pytest.mark.parametrize("region", ["us-west-2", "us-east-1", "eu-central-1"])
def test_bucket_in_the_namespace_of_the_account(endpoint: str, region: str) -> None:
    session = Session(endpoint=endpoint, region=region)
    made = create(session, "AWS::S3::Bucket", BucketNamePrefix="data", BucketNamespace="account-regional")
    assert made.physical_id == f"data-111122223333-{region}-an"
    assert_told(session, made)
    assert made.attributes["RegionalDomainName"] == f"{made.physical_id}.s3.{region}.amazonaws.com"
    delete(session, made)
    assert_gone(session, made)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"BucketNamePrefix": "data"}, "BucketNamePrefix needs BucketNamespace account-regional"),
        ({"BucketName": "one", "BucketNamePrefix": "two"}, "exclude each other"),
        (
            {"BucketNamePrefix": "x" * 50, "BucketNamespace": "account-regional"},
            "characters, at most 63",
        ),
        ({"AccessControl": "PublicRead"}, "AccessControl 'PublicRead'"),
        (
            {"LifecycleConfiguration": {"Rules": [{"Status": "Enabled", "TagFilters": []}]}},
            r"a lifecycle rule that this double does not apply: \['TagFilters'\]",
        ),
    ],
)
def test_bucket_refused(root: Session, properties: dict[str, Any], message: str) -> None:
    with pytest.raises(ResourceFailure, match=message):
        create(root, "AWS::S3::Bucket", **properties)


def test_name_in_the_namespace_of_another_account_is_refused(root: Session) -> None:
    with pytest.raises(ClientError, match="InvalidNamespaceHeader"):
        create(
            root,
            "AWS::S3::Bucket",
            BucketName="data-999999999999-us-west-2-an",
            BucketNamespace="account-regional",
        )


def test_bucket_with_objects_stays(root: Session) -> None:
    made = create(root, "AWS::S3::Bucket", VersioningConfiguration={"Status": "Enabled"})
    s3 = root.client("s3")
    version = s3.put_object(Bucket=made.physical_id, Key="a", Body=b"1")["VersionId"]
    marker = s3.delete_object(Bucket=made.physical_id, Key="a")["VersionId"]
    with pytest.raises(ClientError, match="BucketNotEmpty"):  # of versions, behind the marker
        delete(root, made)
    for left in (version, marker):
        s3.delete_object(Bucket=made.physical_id, Key="a", VersionId=left)
    delete(root, made)
    assert_gone(root, made)


def test_bucket_policy(root: Session) -> None:
    bucket = create(root, "AWS::S3::Bucket").physical_id
    arn = f"arn:aws:s3:::{bucket}"
    first = document(allow("s3:GetObject", resource=f"{arn}/*", Principal={"AWS": ROOT_ARN}))
    second = document(allow("s3:ListBucket", resource=arn, Principal={"AWS": ROOT_ARN}))
    live(
        root,
        "AWS::S3::BucketPolicy",
        {"Bucket": bucket, "PolicyDocument": first},
        {"Bucket": bucket, "PolicyDocument": second},
    )


def test_bucket_has_one_policy(root: Session) -> None:
    bucket = create(root, "AWS::S3::Bucket").physical_id
    policy = document(allow("s3:ListBucket", resource=f"arn:aws:s3:::{bucket}", Principal={"AWS": ROOT_ARN}))
    create(root, "AWS::S3::BucketPolicy", Bucket=bucket, PolicyDocument=policy)
    with pytest.raises(ResourceFailure, match="already exists"):
        create(root, "AWS::S3::BucketPolicy", Bucket=bucket, PolicyDocument=policy)
