"""Which permissions a request to S3 needs."""

from __future__ import annotations

import json
from pathlib import Path

import cfnlint
import pytest

from aws_double.permissions import s3_requests
from aws_double.permissions.request import UnknownElementError, Value
from aws_double.permissions.s3_requests import S3Call, needed, request_keys


def call(line: str, **headers: str) -> S3Call:
    """A request of a line such as ``PUT data/key?acl&versionId=1``."""
    method, _, rest = line.partition(" ")
    path, _, query = rest.partition("?")
    bucket, slash, key = path.partition("/")
    pairs = [part.partition("=") for part in query.split("&") if part]
    return S3Call(
        method,
        bucket,
        key if slash else None,
        {name: value for name, _, value in pairs},
        {name.replace("_", "-"): value for name, value in headers.items()},
    )


@pytest.mark.parametrize(
    ("line", "actions"),
    [
        ("GET ", "ListAllMyBuckets"),
        ("HEAD data", "ListBucket"),
        ("GET data?list-type=2&prefix=a&x-id=ListObjectsV2", "ListBucket"),
        ("GET data?versions&prefix=a", "ListBucketVersions"),
        ("GET data?uploads", "ListBucketMultipartUploads"),
        ("GET data?policy", "GetBucketPolicy"),
        ("PUT data", "CreateBucket"),
        ("PUT data?policy", "PutBucketPolicy"),
        ("PUT data?lifecycle", "PutLifecycleConfiguration"),
        ("PUT data?versioning", "PutBucketVersioning"),
        ("PUT data?encryption", "PutEncryptionConfiguration"),
        ("PUT data?publicAccessBlock", "PutBucketPublicAccessBlock"),
        ("PUT data?ownershipControls", "PutBucketOwnershipControls"),
        ("PUT data?acl", "PutBucketAcl"),
        ("DELETE data", "DeleteBucket"),
        ("DELETE data?policy", "DeleteBucketPolicy"),
        ("DELETE data?lifecycle", "PutLifecycleConfiguration"),
        ("DELETE data?tagging", "PutBucketTagging"),
        ("DELETE data?publicAccessBlock", "PutBucketPublicAccessBlock"),
        ("POST data?delete", ""),
        ("GET data/a", "GetObject"),
        ("HEAD data/a?versionId=1", "GetObjectVersion"),
        ("GET data/a?attributes", "GetObject GetObjectAttributes"),
        ("GET data/a?attributes&versionId=1", "GetObjectVersion GetObjectVersionAttributes"),
        ("GET data/a?acl", "GetObjectAcl"),
        ("GET data/a?tagging&versionId=1", "GetObjectVersionTagging"),
        ("GET data/a?uploadId=1&max-parts=2", "ListMultipartUploadParts"),
        ("GET data/a?X-Amz-Credential=a&X-Amz-Signature=b", "GetObject"),
        ("PUT data/a", "PutObject"),
        ("PUT data/a?acl", "PutObjectAcl"),
        ("PUT data/a?tagging&versionId=1", "PutObjectVersionTagging"),
        ("PUT data/a?uploadId=1&partNumber=2", "PutObject"),
        ("POST data/a?uploads", "PutObject"),
        ("POST data/a?uploadId=1", "PutObject"),
        ("POST data/a?restore", "RestoreObject"),
        ("DELETE data/a", "DeleteObject"),
        ("DELETE data/a?versionId=1", "DeleteObjectVersion"),
        ("DELETE data/a?tagging", "DeleteObjectTagging"),
        ("DELETE data/a?uploadId=1", "AbortMultipartUpload"),
    ],
)
def test_actions(line: str, actions: str) -> None:
    asked = call(line)
    wanted = [f"s3:{action}" for action in actions.split()]
    assert [one.action for one in needed(asked)] == wanted
    if wanted and asked.bucket:
        path = asked.bucket if asked.key is None else f"{asked.bucket}/{asked.key}"
        assert {one.resource for one in needed(asked)} == {f"arn:aws:s3:::{path}"}


@pytest.mark.parametrize(
    ("line", "headers", "actions"),
    [
        ("PUT data/a", {"x_amz_tagging": "a=b"}, "PutObject PutObjectTagging"),
        ("PUT data/a", {"x_amz_acl": "private"}, "PutObject PutObjectAcl"),
        ("PUT data/a", {"x_amz_grant_read": "id=1"}, "PutObject PutObjectAcl"),
        (
            "PUT data/a",
            {"x_amz_object_lock_mode": "GOVERNANCE", "x_amz_object_lock_legal_hold": "ON"},
            "PutObject PutObjectRetention PutObjectLegalHold",
        ),
        ("PUT data", {"x_amz_object_ownership": "x"}, "CreateBucket PutBucketOwnershipControls"),
        (
            "PUT data",
            {"x_amz_bucket_object_lock_enabled": "true"},
            "CreateBucket PutBucketObjectLockConfiguration PutBucketVersioning",
        ),
        (
            "DELETE data/a",
            {"x_amz_bypass_governance_retention": "true"},
            "DeleteObject BypassGovernanceRetention",
        ),
    ],
)
def test_headers_need_more(line: str, headers: dict[str, str], actions: str) -> None:
    assert [one.action for one in needed(call(line, **headers))] == [f"s3:{x}" for x in actions.split()]


@pytest.mark.parametrize("line", ["PUT data/a", "PUT data/a?uploadId=1&partNumber=1"])
@pytest.mark.parametrize(
    ("source", "action", "version"),
    [
        ("/other/b%20c", "s3:GetObject", None),
        ("other/b%20c?versionId=7", "s3:GetObjectVersion", "7"),
    ],
)
def test_copy_reads_its_source(line: str, source: str, action: str, version: str | None) -> None:
    written, read = needed(call(line, x_amz_copy_source=source))
    assert (written.action, written.resource) == ("s3:PutObject", "arn:aws:s3:::data/a")
    assert (read.action, read.resource, read.version) == (action, "arn:aws:s3:::other/b c", version)


@pytest.mark.parametrize(
    "line",
    [
        "GET data?session",
        "PUT data?abac",
        "POST data",
        "PUT data/a?renameObject",
        "POST data/a?select",
        "PATCH data/a",
    ],
)
def test_unknown_operation(line: str) -> None:
    with pytest.raises(UnknownElementError):
        needed(call(line))


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        (call("GET data?prefix=a/&delimiter=/"), {"s3:prefix": "a/", "s3:delimiter": "/"}),
        (call("GET data/a?versionId=1"), {"s3:VersionId": "1"}),
        (
            call("PUT data/a", x_amz_tagging="team=x&cost=y", if_none_match="*"),
            {
                "s3:RequestObjectTagKeys": ("team", "cost"),
                "s3:RequestObjectTag/team": "x",
                "s3:RequestObjectTag/cost": "y",
                "s3:if-none-match": "*",
            },
        ),
        (
            call("PUT data/a", x_amz_server_side_encryption="aws:kms"),
            {"s3:x-amz-server-side-encryption": "aws:kms"},
        ),
    ],
)
def test_keys(asked: S3Call, keys: dict[str, Value]) -> None:
    assert request_keys(asked) == keys


def test_actions_exist() -> None:
    """Every action is one that IAM knows, by cfn-lint's copy of the service authorization reference."""
    path = Path(cfnlint.__file__).parent / "data" / "AdditionalSpecs" / "Policies.json"
    known = set(json.loads(path.read_text(encoding="utf-8"))["s3"]["Actions"])
    said = {
        action.format(version)
        for tables in s3_requests.TABLES.values()
        for table in tables.values()
        for action in table.values()
        for version in ("", "Version")
    }
    assert len(said) > 50
    assert {action.lower() for action in said} <= known
