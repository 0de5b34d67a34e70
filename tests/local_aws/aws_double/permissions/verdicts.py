"""Verdicts on requests, by the policies that the double holds at the time."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from moto.kms.models import kms_backends
from moto.s3.models import s3_backends

from aws_double import ACCOUNT
from aws_double.permissions.bucket_policy import is_public
from aws_double.permissions.decision import Decision, decide_by_identity, decide_on_bucket, decide_on_key
from aws_double.permissions.object_keys import (
    MissingKeyError,
    encryption_of_object,
    encryption_of_upload,
    encryption_of_write,
    key_use,
)
from aws_double.permissions.principals import Principal
from aws_double.permissions.request import Request, Value
from aws_double.permissions.s3_requests import Needed

_YES = Decision(allowed=True)
_READS = frozenset({"s3:GetObject", "s3:GetObjectVersion"})


def general_keys() -> dict[str, Value]:
    """Return the condition keys that every request has; without a word to the contrary it came over TLS."""
    return {
        "aws:CurrentTime": datetime.now(UTC).isoformat(),
        "aws:EpochTime": str(int(time.time())),
        "aws:SecureTransport": "true",
        "aws:SourceIp": "127.0.0.1",
        "aws:ResourceAccount": ACCOUNT,
        "s3:ResourceAccount": ACCOUNT,
        "s3:authType": "REST-HEADER",
        "s3:signatureversion": "AWS4-HMAC-SHA256",
    }


def judge(who: Principal, one: Needed, keys: Mapping[str, Value]) -> Decision:
    """Judge a permission that a request to S3 needs.

    Args:
        who: Who asks.
        one: The permission.
        keys: Condition keys of the request.
    """
    bucket = s3_backends[ACCOUNT]["aws"].buckets.get(one.bucket)
    all_keys = dict(keys)
    if bucket is not None:
        all_keys["aws:RequestedRegion"] = bucket.region_name
    if one.key is not None:
        all_keys |= _tags_of_object(one)
    request = Request(who, one.action, one.resource, all_keys)
    if bucket is None or one.action == "s3:CreateBucket":
        return decide_by_identity(request)
    policy = json.loads(bucket.policy) if bucket.policy else None
    block = bucket.public_access_block
    restricts = block is not None and block.restrict_public_buckets
    return decide_on_bucket(
        request,
        policy,
        account=bucket.account_id,
        restricted=restricts and policy is not None and is_public(policy),
    )


def find_object(bucket: str, key: str, version: str | None) -> Any:
    """Return moto's object, or none."""
    backend = s3_backends[ACCOUNT]["aws"]
    return backend.get_object(bucket, key, version_id=version) if bucket in backend.buckets else None


def _tags_of_object(one: Needed) -> dict[str, Value]:
    found = find_object(one.bucket, str(one.key), one.version)
    if found is None:
        return {}
    tags = s3_backends[ACCOUNT]["aws"].tagger.get_tag_dict_for_resource(found.arn)
    return {f"s3:ExistingObjectTag/{name}": value for name, value in tags.items()}


def judge_key_use(
    who: Principal, one: Needed, keys: Mapping[str, Value], *, headers: Mapping[str, str]
) -> Decision:
    """Judge the use of a key of KMS that S3 makes to serve a request, if it needs one.

    Args:
        who: Who asks.
        one: The permission of S3, judged already.
        keys: Condition keys of the request.
        headers: Headers of the request, their names in lower case.
    """
    bucket = s3_backends[ACCOUNT]["aws"].buckets.get(one.bucket)
    if bucket is None or one.key is None:
        return _YES
    if one.action == "s3:PutObject" and one.upload is not None:
        # S3 reads what it has of the upload before it goes on.
        action, (algorithm, key, by_bucket) = "kms:Decrypt", encryption_of_upload(bucket, one.upload)
    elif one.action == "s3:PutObject":
        action, (algorithm, key, by_bucket) = "kms:GenerateDataKey", encryption_of_write(bucket, headers)
    elif one.action in _READS:
        found = find_object(one.bucket, one.key, one.version)
        if found is None or not hasattr(found, "encryption"):
            return _YES
        action, (algorithm, key, by_bucket) = "kms:Decrypt", encryption_of_object(found)
    else:
        return _YES
    # The key that AWS manages for S3 lets in whom S3 lets in.
    if algorithm not in ("aws:kms", "aws:kms:dsse") or key is None:
        return _YES
    context = f"arn:aws:s3:::{one.bucket}" if by_bucket else one.resource
    try:
        use = key_use(who, action, key, bucket=bucket, context=context, keys=keys)
    except MissingKeyError:
        return Decision(allowed=False, reason=f"the key {key} does not exist")
    if use.state != "Enabled":
        return Decision(allowed=False, reason=f"the key {key} is {use.state}")
    return decide_on_key(use.request, use.policy)


def judge_other(who: Principal, action: str, resource: str, keys: Mapping[str, Value]) -> Decision:
    """Judge a request to another service: by the policy of the key if it is one of KMS, else by identity."""
    request = Request(who, action, resource, keys)
    parts = resource.split(":", 5)
    if action.startswith("kms:") and len(parts) == 6 and parts[5].startswith("key/"):
        found = kms_backends[ACCOUNT][parts[3]].keys.get(parts[5].removeprefix("key/"))
        if found is None:
            return Decision(allowed=False, reason=f"the key {resource} does not exist")
        return decide_on_key(request, json.loads(found.policy))
    return decide_by_identity(request)
