"""Reads buckets and their policies back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

from read_back import Clients, reads
from read_back.parts import copied, tags

_OWN_NAMESPACE = re.compile(r"(?P<prefix>.+)-\d{12}-[a-z]+(?:-[a-z]+)+-\d-an")
_ABSENT = {
    "NoSuchPublicAccessBlockConfiguration",
    "NoSuchTagSet",
    "OwnershipControlsNotFoundError",
    "NoSuchLifecycleConfiguration",
    "ServerSideEncryptionConfigurationNotFoundError",
}


@reads("AWS::S3::Bucket")
def bucket(clients: Clients, physical_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a bucket. That it lies in the account's own namespace is told by its name."""
    s3 = clients.client("s3")
    s3.head_bucket(Bucket=physical_id)
    told: dict[str, Any] = {"BucketName": physical_id}
    own = _OWN_NAMESPACE.fullmatch(physical_id)
    if own:
        told |= {"BucketNamePrefix": own["prefix"], "BucketNamespace": "account-regional"}
    block = _asked(s3.get_public_access_block, physical_id)
    told |= copied(block, "PublicAccessBlockConfiguration")
    told |= copied(_asked(s3.get_bucket_ownership_controls, physical_id), "OwnershipControls")
    told |= _versioning(s3, physical_id)
    told |= _encryption(_asked(s3.get_bucket_encryption, physical_id))
    told |= _lifecycle(_asked(s3.get_bucket_lifecycle_configuration, physical_id))
    told |= _logging(s3.get_bucket_logging(Bucket=physical_id))
    found = _asked(s3.get_bucket_tagging, physical_id).get("TagSet", [])
    return told | tags(((tag["Key"], tag["Value"]) for tag in found), wanted)


def _asked(call: Callable[..., dict[str, Any]], name: str) -> dict[str, Any]:
    """Return an answer, empty if the bucket has no such configuration."""
    try:
        return call(Bucket=name)
    except ClientError as error:
        if error.response["Error"]["Code"] in _ABSENT:
            return {}
        raise


def _versioning(s3: Any, name: str) -> dict[str, Any]:
    status = s3.get_bucket_versioning(Bucket=name).get("Status")
    return {} if status is None else {"VersioningConfiguration": {"Status": status}}


def _encryption(found: dict[str, Any]) -> dict[str, Any]:
    if not found:
        return {}
    rules = [
        {
            "ServerSideEncryptionByDefault": rule["ApplyServerSideEncryptionByDefault"],
            **({"BucketKeyEnabled": True} if rule.get("BucketKeyEnabled") else {}),
        }
        for rule in found["ServerSideEncryptionConfiguration"]["Rules"]
    ]
    return {"BucketEncryption": {"ServerSideEncryptionConfiguration": rules}}


def _lifecycle(found: dict[str, Any]) -> dict[str, Any]:
    return {"LifecycleConfiguration": {"Rules": [_rule(rule) for rule in found["Rules"]]}} if found else {}


def _rule(rule: dict[str, Any]) -> dict[str, Any]:
    told = copied(rule, "Status", "AbortIncompleteMultipartUpload", "NoncurrentVersionExpiration")
    told["Id"] = rule["ID"]
    prefix = rule.get("Filter", {}).get("Prefix", "")
    if prefix:
        told["Prefix"] = prefix
    expiration = rule.get("Expiration", {})
    if "Days" in expiration:
        told["ExpirationInDays"] = expiration["Days"]
    return told | copied(expiration, "ExpiredObjectDeleteMarker")


def _logging(found: dict[str, Any]) -> dict[str, Any]:
    if "LoggingEnabled" not in found:
        return {}
    enabled = found["LoggingEnabled"]
    told = {"DestinationBucketName": enabled["TargetBucket"]}
    if enabled.get("TargetPrefix"):
        told["LogFilePrefix"] = enabled["TargetPrefix"]
    return {"LoggingConfiguration": told}


@reads("AWS::S3::BucketPolicy")
def bucket_policy(clients: Clients, physical_id: str, _wanted: dict[str, Any]) -> dict[str, Any]:
    """Read the policy of a bucket."""
    document = clients.client("s3").get_bucket_policy(Bucket=physical_id)["Policy"]
    return {"Bucket": physical_id, "PolicyDocument": json.loads(document)}
