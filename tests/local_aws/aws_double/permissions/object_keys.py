"""Which key of KMS stands behind an object, and what S3 asks of it in the name of its caller."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from moto.kms.models import kms_backends

from aws_double import ACCOUNT
from aws_double.permissions.principals import Principal
from aws_double.permissions.request import Request, Value


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A use of a key.

    Attributes:
        request: What is asked of KMS; its resource is the key.
        policy: Policy of the key.
        state: Such as ``Enabled``.
    """

    request: Request
    policy: Mapping[str, Any]
    state: str


class MissingKeyError(Exception):
    """A key that does not exist."""


def key_use(
    principal: Principal, action: str, key: str, *, bucket: Any, context: str, keys: Mapping[str, Value]
) -> KeyUse:
    """Return the use of a key that S3 makes for a caller.

    Args:
        principal: Who asked S3.
        action: Such as ``kms:Decrypt``.
        key: Id, ARN or alias of the key.
        bucket: Moto's bucket.
        context: ARN that S3 gives as encryption context: the bucket's with a bucket key, else the object's.
        keys: Condition keys of the request to S3.

    Raises:
        MissingKeyError: If there is no such key.
    """
    region = key.split(":")[3] if key.startswith("arn:") else bucket.region_name
    backend = kms_backends[ACCOUNT][region]
    name = key.rpartition(":")[2].removeprefix("key/")
    key_id = backend.get_key_id_from_alias(name) if name.startswith("alias/") else name
    if key_id not in backend.keys:
        raise MissingKeyError(key)
    found = backend.keys[key_id]
    via: dict[str, Value] = {
        "kms:ViaService": f"s3.{bucket.region_name}.amazonaws.com",
        "kms:EncryptionContext:aws:s3:arn": context,
        "kms:EncryptionContextKeys": ("aws:s3:arn",),
    }
    if principal.account is not None:
        via["kms:CallerAccount"] = principal.account
    general = {name: value for name, value in keys.items() if name.startswith("aws:")}
    return KeyUse(
        request=Request(principal, action, found.arn, {**general, **via}),
        policy=json.loads(found.policy),
        state=found.key_state,
    )


def encryption_of_write(bucket: Any, headers: Mapping[str, str]) -> tuple[str | None, str | None, bool]:
    """Return how a new object is encrypted: algorithm, key and whether with a bucket key."""
    by_default = (bucket.encryption or {}).get("Rule", {})
    default = by_default.get("ApplyServerSideEncryptionByDefault", {})
    bucket_key = str(by_default.get("BucketKeyEnabled", "false")).lower() == "true"
    algorithm = headers.get("x-amz-server-side-encryption")
    if algorithm is None:
        return default.get("SSEAlgorithm"), default.get("KMSMasterKeyID"), bucket_key
    key = headers.get("x-amz-server-side-encryption-aws-kms-key-id", default.get("KMSMasterKeyID"))
    return algorithm, key, bucket_key


def encryption_of_upload(bucket: Any, upload: str) -> tuple[str | None, str | None, bool]:
    """Return how the object of a multipart upload will be encrypted."""
    found = bucket.multiparts.get(upload)
    if found is None or found.sse_encryption is None:
        return encryption_of_write(bucket, {})
    return found.sse_encryption, found.kms_key_id, encryption_of_write(bucket, {})[2]


def encryption_of_object(found: Any) -> tuple[str | None, str | None, bool]:
    """Return how an object is encrypted: algorithm, key and whether with a bucket key."""
    return found.encryption, found.kms_key_id, str(found.bucket_key_enabled).lower() == "true"
