"""Buckets and their policies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from aws_double import ACCOUNT
from aws_double.naming import physical_name, random_suffix
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.session import Session

_LONGEST_NAME = 63
_LONGEST_LOGICAL_PART = 12

Apply = Callable[[Session, str, Any], None]


def _public_access_block(session: Session, bucket: str, value: Any) -> None:
    if value is None:
        session.call("s3", "delete_public_access_block", Bucket=bucket)
    else:
        session.call("s3", "put_public_access_block", Bucket=bucket, PublicAccessBlockConfiguration=value)


def _ownership(session: Session, bucket: str, value: Any) -> None:
    if value is None:
        session.call("s3", "delete_bucket_ownership_controls", Bucket=bucket)
    else:
        session.call("s3", "put_bucket_ownership_controls", Bucket=bucket, OwnershipControls=value)


def _versioning(session: Session, bucket: str, value: Any) -> None:
    configuration = {"Status": "Suspended"} if value is None else value
    session.call("s3", "put_bucket_versioning", Bucket=bucket, VersioningConfiguration=configuration)


def _encryption(session: Session, bucket: str, value: Any) -> None:
    if value is None:
        session.call("s3", "delete_bucket_encryption", Bucket=bucket)
        return
    rules = [_encryption_rule(rule) for rule in value["ServerSideEncryptionConfiguration"]]
    session.call(
        "s3", "put_bucket_encryption", Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": rules}
    )


def _encryption_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    renamed = {"ServerSideEncryptionByDefault": "ApplyServerSideEncryptionByDefault"}
    return {renamed.get(key, key): value for key, value in rule.items()}


def _lifecycle(session: Session, bucket: str, value: Any) -> None:
    if value is None:
        session.call("s3", "delete_bucket_lifecycle", Bucket=bucket)
        return
    rules = [lifecycle_rule(rule, f"rule-{number}") for number, rule in enumerate(value["Rules"])]
    session.call(
        "s3", "put_bucket_lifecycle_configuration", Bucket=bucket, LifecycleConfiguration={"Rules": rules}
    )


def lifecycle_rule(rule: Mapping[str, Any], default_id: str) -> dict[str, Any]:
    """Return a lifecycle rule of CloudFormation as S3's API says it.

    Raises:
        ResourceFailure: If the double does not know one of its properties.
    """
    rest = dict(rule)
    said: dict[str, Any] = {
        "ID": rest.pop("Id", default_id),
        "Status": rest.pop("Status"),
        "Filter": {"Prefix": rest.pop("Prefix", "")},
    }
    for name in ("AbortIncompleteMultipartUpload", "NoncurrentVersionExpiration"):
        if name in rest:
            said[name] = rest.pop(name)
    expiration = {
        api_name: rest.pop(name)
        for name, api_name in (
            ("ExpirationInDays", "Days"),
            ("ExpiredObjectDeleteMarker", "ExpiredObjectDeleteMarker"),
        )
        if name in rest
    }
    if expiration:
        said["Expiration"] = expiration
    if rest:
        raise ResourceFailure(
            f"properties of a lifecycle rule that this double does not apply: {sorted(rest)}"
        )
    return said


def _logging(session: Session, bucket: str, value: Any) -> None:
    status = {}
    if value is not None:
        status = {
            "LoggingEnabled": {
                "TargetBucket": value.get("DestinationBucketName", bucket),
                "TargetPrefix": value.get("LogFilePrefix", ""),
            }
        }
    session.call("s3", "put_bucket_logging", Bucket=bucket, BucketLoggingStatus=status)


def _tags(session: Session, bucket: str, value: Any) -> None:
    if value is None:
        session.call("s3", "delete_bucket_tagging", Bucket=bucket)
    else:
        session.call("s3", "put_bucket_tagging", Bucket=bucket, Tagging={"TagSet": value})


_CANNED = {"Private": "private"}


def _access_control(session: Session, bucket: str, value: Any) -> None:
    if value is None:
        return
    if value not in _CANNED:
        raise ResourceFailure(f"AccessControl {value!r}: this double has buckets without access lists only")


_APPLIED: dict[str, Apply] = {
    "AccessControl": _access_control,
    "PublicAccessBlockConfiguration": _public_access_block,
    "OwnershipControls": _ownership,
    "VersioningConfiguration": _versioning,
    "BucketEncryption": _encryption,
    "LifecycleConfiguration": _lifecycle,
    "LoggingConfiguration": _logging,
    "Tags": _tags,
}
_CHANGES = (
    "AccessControl BucketEncryption LifecycleConfiguration LoggingConfiguration OwnershipControls "
    "PublicAccessBlockConfiguration Tags VersioningConfiguration"
)


@resource_type(
    "AWS::S3::Bucket",
    properties=f"BucketName BucketNamePrefix BucketNamespace {_CHANGES}",
    updatable=_CHANGES,
)
class Bucket(ResourceType):
    """A bucket, in the global namespace or in the account's own."""

    def create(self, resource: Resource, session: Session) -> None:
        name = _bucket_name(resource, session.region)
        request: dict[str, Any] = {"Bucket": name}
        if session.region != "us-east-1":
            request["CreateBucketConfiguration"] = {"LocationConstraint": session.region}
        if "BucketNamespace" in resource.properties:
            request["BucketNamespace"] = resource.properties["BucketNamespace"]
        session.call("s3", "create_bucket", **request)
        resource.physical_id = name
        resource.attributes = {
            "Arn": f"arn:aws:s3:::{name}",
            "DomainName": f"{name}.s3.amazonaws.com",
            "DualStackDomainName": f"{name}.s3.dualstack.{session.region}.amazonaws.com",
            "RegionalDomainName": f"{name}.s3.{session.region}.amazonaws.com",
            "WebsiteURL": f"http://{name}.s3-website-{session.region}.amazonaws.com",
        }
        _apply(session, name, {}, resource.properties)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        _apply(session, after.physical_id, before.properties, after.properties)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("s3", "delete_bucket", Bucket=resource.physical_id)


def _bucket_name(resource: Resource, region: str) -> str:
    """Return the name that CloudFormation gives a bucket.

    Its own namespace needs a prefix, to which CloudFormation adds account and region; a full name is checked
    by the service.
    """
    given = resource.properties.get("BucketName")
    prefix = resource.properties.get("BucketNamePrefix")
    if given is not None and prefix is not None:
        raise ResourceFailure("BucketName and BucketNamePrefix exclude each other")
    if given is not None:
        return str(given)
    if prefix is not None:
        if resource.properties.get("BucketNamespace") != "account-regional":
            raise ResourceFailure("BucketNamePrefix needs BucketNamespace account-regional")
        name = f"{prefix}-{ACCOUNT}-{region}-an"
        if len(name) > _LONGEST_NAME:
            raise ResourceFailure(f"{name} has {len(name)} characters, at most {_LONGEST_NAME}")
        return name
    if "BucketNamespace" in resource.properties:
        suffix = f"-{ACCOUNT}-{region}-an"
        stem = resource.logical_id.lower()[:_LONGEST_LOGICAL_PART]
        return f"{stem}-{random_suffix(8).lower()}{suffix}"
    return physical_name(resource, limit=_LONGEST_NAME, lower=True)


def _apply(session: Session, bucket: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    for name, apply in _APPLIED.items():
        if before.get(name) != after.get(name):
            apply(session, bucket, after.get(name))


@resource_type("AWS::S3::BucketPolicy", properties="Bucket PolicyDocument", updatable="PolicyDocument")
class BucketPolicy(ResourceType):
    """The policy of a bucket; it may have one only."""

    def create(self, resource: Resource, session: Session) -> None:
        bucket = resource.properties["Bucket"]
        if _has_policy(session, bucket):
            raise ResourceFailure(f"the bucket policy already exists on bucket {bucket}")
        _put(session, resource)
        resource.physical_id = bucket

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        _put(session, after)

    def delete(self, resource: Resource, session: Session) -> None:
        session.call("s3", "delete_bucket_policy", Bucket=resource.physical_id)


def _put(session: Session, resource: Resource) -> None:
    document = json.dumps(resource.properties["PolicyDocument"])
    session.call("s3", "put_bucket_policy", Bucket=resource.properties["Bucket"], Policy=document)


def _has_policy(session: Session, bucket: str) -> bool:
    client = session.client("s3")
    try:
        client.get_bucket_policy(Bucket=bucket)
    except client.exceptions.ClientError as error:
        if error.response["Error"]["Code"] == "NoSuchBucketPolicy":
            return False
        raise
    return True
