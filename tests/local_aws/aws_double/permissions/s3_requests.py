"""Which permissions a request to S3 needs, by method and query, as the S3 API reference states them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlparse

from aws_double.permissions.request import UnknownElementError, Value

_READ_BUCKET = {
    "accelerate": "GetAccelerateConfiguration",
    "acl": "GetBucketAcl",
    "analytics": "GetAnalyticsConfiguration",
    "cors": "GetBucketCORS",
    "encryption": "GetEncryptionConfiguration",
    "intelligent-tiering": "GetIntelligentTieringConfiguration",
    "inventory": "GetInventoryConfiguration",
    "lifecycle": "GetLifecycleConfiguration",
    "location": "GetBucketLocation",
    "logging": "GetBucketLogging",
    "metrics": "GetMetricsConfiguration",
    "notification": "GetBucketNotification",
    "object-lock": "GetBucketObjectLockConfiguration",
    "ownershipControls": "GetBucketOwnershipControls",
    "policy": "GetBucketPolicy",
    "policyStatus": "GetBucketPolicyStatus",
    "publicAccessBlock": "GetBucketPublicAccessBlock",
    "replication": "GetReplicationConfiguration",
    "requestPayment": "GetBucketRequestPayment",
    "tagging": "GetBucketTagging",
    "uploads": "ListBucketMultipartUploads",
    "versioning": "GetBucketVersioning",
    "versions": "ListBucketVersions",
    "website": "GetBucketWebsite",
}
_CHANGE_BUCKET = {
    "accelerate": "PutAccelerateConfiguration",
    "acl": "PutBucketAcl",
    "analytics": "PutAnalyticsConfiguration",
    "cors": "PutBucketCORS",
    "encryption": "PutEncryptionConfiguration",
    "intelligent-tiering": "PutIntelligentTieringConfiguration",
    "inventory": "PutInventoryConfiguration",
    "lifecycle": "PutLifecycleConfiguration",
    "logging": "PutBucketLogging",
    "metrics": "PutMetricsConfiguration",
    "notification": "PutBucketNotification",
    "object-lock": "PutBucketObjectLockConfiguration",
    "ownershipControls": "PutBucketOwnershipControls",
    "policy": "PutBucketPolicy",
    "publicAccessBlock": "PutBucketPublicAccessBlock",
    "replication": "PutReplicationConfiguration",
    "requestPayment": "PutBucketRequestPayment",
    "tagging": "PutBucketTagging",
    "versioning": "PutBucketVersioning",
    "website": "PutBucketWebsite",
}
_CLEAR_BUCKET = {**_CHANGE_BUCKET, "policy": "DeleteBucketPolicy", "website": "DeleteBucketWebsite"}
_READ_OBJECT = {
    "acl": "GetObject{}Acl",
    "legal-hold": "GetObjectLegalHold",
    "retention": "GetObjectRetention",
    "tagging": "GetObject{}Tagging",
    "torrent": "GetObject{}Torrent",
}
_CHANGE_OBJECT = {
    "acl": "PutObject{}Acl",
    "legal-hold": "PutObjectLegalHold",
    "retention": "PutObjectRetention",
    "tagging": "PutObject{}Tagging",
}
TABLES = {
    "bucket": {"GET": _READ_BUCKET, "PUT": _CHANGE_BUCKET, "DELETE": _CLEAR_BUCKET},
    "object": {
        "GET": _READ_OBJECT,
        "PUT": _CHANGE_OBJECT,
        "DELETE": {"tagging": "DeleteObject{}Tagging"},
    },
}
"""Action by kind, method and subresource; ``{}`` stands for ``Version`` if one is asked for."""
_VALUES = frozenset(
    {
        "AWSAccessKeyId",
        "Expires",
        "Signature",
        "continuation-token",
        "delimiter",
        "encoding-type",
        "fetch-owner",
        "id",
        "key-marker",
        "list-type",
        "marker",
        "max-keys",
        "max-parts",
        "max-uploads",
        "part-number-marker",
        "partNumber",
        "prefix",
        "start-after",
        "upload-id-marker",
        "uploadId",
        "version-id-marker",
        "versionId",
        "x-id",
    }
)
"""Parameters that say how, not what; others without a permission of their own are unknown."""

_HEADERS_AS_KEYS = frozenset(
    {
        "x-amz-acl",
        "x-amz-bucket-namespace",
        "x-amz-content-sha256",
        "x-amz-copy-source",
        "x-amz-grant-full-control",
        "x-amz-grant-read",
        "x-amz-grant-read-acp",
        "x-amz-grant-write",
        "x-amz-grant-write-acp",
        "x-amz-metadata-directive",
        "x-amz-object-ownership",
        "x-amz-server-side-encryption",
        "x-amz-server-side-encryption-aws-kms-key-id",
        "x-amz-server-side-encryption-customer-algorithm",
        "x-amz-storage-class",
        "x-amz-website-redirect-location",
    }
)


@dataclass(frozen=True, slots=True)
class Needed:
    """A permission that a request needs.

    Attributes:
        action: Such as ``s3:PutObject``.
        bucket: Name of the bucket; empty for all buckets of an account.
        key: Key of the object, or none for the bucket itself.
        version: Version of the object, if a certain one.
        upload: Id of the multipart upload that a part is for, or that it completes.
    """

    action: str
    bucket: str
    key: str | None = None
    version: str | None = None
    upload: str | None = None

    @property
    def resource(self) -> str:
        """ARN of what it is done to."""
        if not self.bucket:
            return "*"
        return f"arn:aws:s3:::{self.bucket}" if self.key is None else f"arn:aws:s3:::{self.bucket}/{self.key}"


@dataclass(frozen=True, slots=True)
class S3Call:
    """A request to S3.

    Attributes:
        method: HTTP's.
        bucket: Name of the bucket, or empty.
        key: Key of the object, or none.
        query: Parameters of the query.
        headers: Headers, their names in lower case.
    """

    method: str
    bucket: str
    key: str | None
    query: Mapping[str, str]
    headers: Mapping[str, str]


def needed(call: S3Call) -> list[Needed]:
    """Return the permissions that a request needs; a deletion of several objects is judged one by one.

    Raises:
        UnknownElementError: If the double does not know the operation.
    """
    if not call.bucket:
        return [Needed("s3:ListAllMyBuckets", "")]
    subresources = [
        name
        for name in call.query
        if name not in _VALUES and not name.lower().startswith(("x-amz-", "response-"))
    ]
    if call.key is None:
        return _for_bucket(call, subresources)
    return _for_object(call, subresources)


def _for_bucket(call: S3Call, subresources: list[str]) -> list[Needed]:
    if subresources:
        if call.method == "POST" and subresources == ["delete"]:
            return []
        return [Needed(f"s3:{_action(call, 'bucket', subresources)}", call.bucket)]
    if call.method == "PUT":
        return _for_new_bucket(call)
    actions = {"GET": "ListBucket", "HEAD": "ListBucket", "DELETE": "DeleteBucket"}
    if call.method not in actions:
        raise UnknownElementError(f"{call.method} of a bucket")
    return [Needed(f"s3:{actions[call.method]}", call.bucket)]


def _for_new_bucket(call: S3Call) -> list[Needed]:
    actions = ["CreateBucket"]
    if _has_access_list(call):
        actions.append("PutBucketAcl")
    if "x-amz-object-ownership" in call.headers:
        actions.append("PutBucketOwnershipControls")
    if call.headers.get("x-amz-bucket-object-lock-enabled", "").lower() == "true":
        actions += ["PutBucketObjectLockConfiguration", "PutBucketVersioning"]
    return [Needed(f"s3:{action}", call.bucket) for action in actions]


def _for_object(call: S3Call, subresources: list[str]) -> list[Needed]:
    version = call.query.get("versionId")
    upload = call.query.get("uploadId")
    of_version = "Version" if version else ""
    if subresources == ["attributes"] and call.method == "GET":
        actions = [f"GetObject{of_version}", f"GetObject{of_version}Attributes"]
    elif subresources and call.method != "POST":
        actions = [_action(call, "object", subresources).format(of_version)]
    elif call.method in ("GET", "HEAD"):
        actions = ["ListMultipartUploadParts" if "uploadId" in call.query else f"GetObject{of_version}"]
    elif call.method == "PUT":
        actions = _write_actions(call)
    elif call.method == "DELETE":
        actions = _delete_actions(call, of_version)
    elif call.method == "POST" and subresources in ([], ["uploads"]):
        actions = _write_actions(call)
    elif call.method == "POST" and subresources == ["restore"]:
        actions = ["RestoreObject"]
    else:
        raise UnknownElementError(f"{call.method} of an object with {', '.join(subresources)}")
    return [
        *(Needed(f"s3:{action}", call.bucket, call.key, version, upload) for action in actions),
        *copy_source(call),
    ]


def _write_actions(call: S3Call) -> list[str]:
    actions = ["PutObject"]
    if _has_access_list(call):
        actions.append("PutObjectAcl")
    if "x-amz-tagging" in call.headers:
        actions.append("PutObjectTagging")
    if "x-amz-object-lock-mode" in call.headers:
        actions.append("PutObjectRetention")
    if "x-amz-object-lock-legal-hold" in call.headers:
        actions.append("PutObjectLegalHold")
    return actions


def _delete_actions(call: S3Call, of_version: str) -> list[str]:
    if "uploadId" in call.query:
        return ["AbortMultipartUpload"]
    bypass = call.headers.get("x-amz-bypass-governance-retention", "").lower() == "true"
    return [f"DeleteObject{of_version}", *(["BypassGovernanceRetention"] if bypass else [])]


def copy_source(call: S3Call) -> list[Needed]:
    """Return what a copy needs of the object that it copies."""
    header = call.headers.get("x-amz-copy-source")
    if header is None or call.method != "PUT":
        return []
    parsed = urlparse(header)
    bucket, _, key = unquote(parsed.path).lstrip("/").partition("/")
    version = parse_qs(parsed.query).get("versionId", [None])[0]
    action = "s3:GetObjectVersion" if version else "s3:GetObject"
    return [Needed(action, bucket, key, version)]


def _has_access_list(call: S3Call) -> bool:
    return any(name == "x-amz-acl" or name.startswith("x-amz-grant-") for name in call.headers)


def _action(call: S3Call, kind: str, subresources: list[str]) -> str:
    table = TABLES[kind].get(call.method, {})
    if len(subresources) != 1 or subresources[0] not in table:
        raise UnknownElementError(f"{call.method} of a {kind} with {', '.join(subresources)}")
    return table[subresources[0]]


def request_keys(call: S3Call) -> dict[str, Value]:
    """Return the condition keys that parameters and headers of a request give."""
    keys: dict[str, Value] = {
        f"s3:{name}": value for name, value in call.headers.items() if name in _HEADERS_AS_KEYS
    }
    for parameter in ("prefix", "delimiter", "max-keys"):
        if parameter in call.query and call.key is None:
            keys[f"s3:{parameter}"] = call.query[parameter]
    if "versionId" in call.query:
        keys["s3:VersionId"] = call.query["versionId"]
    for name in ("if-match", "if-none-match"):
        if name in call.headers:
            keys[f"s3:{name}"] = call.headers[name]
    tags = {key: values[0] for key, values in parse_qs(call.headers.get("x-amz-tagging", "")).items()}
    if tags:
        keys["s3:RequestObjectTagKeys"] = tuple(tags)
        keys |= {f"s3:RequestObjectTag/{key}": value for key, value in tags.items()}
    return keys
