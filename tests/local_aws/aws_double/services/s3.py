"""S3 of the double: moto's, with the defaults that new buckets have on AWS and without access lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from moto.s3.exceptions import S3ClientError
from moto.s3.models import FakeBucket, PublicAccessBlock, S3Backend

from aws_double.patching import around, before

OWNER_ENFORCED = "BucketOwnerEnforced"
_PLAIN_ENCRYPTION = {"Rule": {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}}


class AccessListNotSupported(S3ClientError):
    """Answer to access lists where the bucket's owner owns every object."""

    code = "AccessControlListNotSupported"

    def __init__(self) -> None:
        super().__init__(self.code, "The bucket does not allow ACLs")


def install() -> None:
    """Patch moto."""
    around(S3Backend, "create_bucket", _with_defaults)
    around(FakeBucket, "_log_permissions_enabled_policy", _without_access_lists)
    before(S3Backend, "put_bucket_acl", _check_access_list)


def _with_defaults(create: Callable[..., Any]) -> Callable[..., Any]:
    """Close a new bucket to the public, let its owner own every object and encrypt it.

    So every bucket is since April 2023.
    """

    def create_bucket(*args: Any, **kwargs: Any) -> Any:
        bucket = create(*args, **kwargs)
        bucket.ownership_rule = OWNER_ENFORCED
        bucket.public_access_block = PublicAccessBlock(True, True, True, True)
        bucket.encryption = _PLAIN_ENCRYPTION
        return bucket

    return create_bucket


def _without_access_lists(by_policy: Callable[..., bool]) -> Callable[..., bool]:
    """Let a bucket without access lists be the target of logs: S3 checks its policy at delivery only."""

    def log_permissions(target_bucket: Any, target_prefix: str | None) -> bool:
        return target_bucket.ownership_rule == OWNER_ENFORCED or by_policy(target_bucket, target_prefix)

    return log_permissions


def _check_access_list(backend: Any, asked: Mapping[str, Any]) -> None:
    # CreateBucket with the canned list "private" comes here, too, and says what holds anyway.
    private = asked["acl"] is None or not any(grantee_is_other(grant) for grant in asked["acl"].grants)
    if backend.get_bucket(asked["bucket_name"]).ownership_rule == OWNER_ENFORCED and not private:
        raise AccessListNotSupported


def grantee_is_other(grant: Any) -> bool:
    """Tell whether an access list lets in anyone but the owner."""
    return any(grantee.uri for grantee in grant.grantees)
