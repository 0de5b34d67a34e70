"""What the handler of the CDK's BucketDeployment does: a stand-in for its code, with its own permissions."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

from aws_double.resource import ResourceFailure
from aws_double.session import Session

OWNER_TAG = "aws-cdk:cr-owned"
"""Tags of a bucket that begin so name prefixes which another deployment still owns."""


def deploy_files(role: Session, properties: Mapping[str, Any]) -> None:
    """Upload the sources to the destination, and prune what else is there if asked to."""
    s3 = role.client("s3")
    bucket, prefix = properties["DestinationBucketName"], _prefix(properties)
    files = {f"{prefix}{name}": content for name, content in _files(role, properties).items()}
    present = _keys(s3, bucket, prefix)  # "aws s3 sync" lists the destination whether it prunes or not
    for key, content in files.items():
        s3.put_object(Bucket=bucket, Key=key, Body=content)
    if str(properties.get("Prune", "true")).lower() == "true":
        for key in present:
            if key not in files:
                s3.delete_object(Bucket=bucket, Key=key)


def remove_files(role: Session, properties: Mapping[str, Any], *, unless_owned: bool = False) -> None:
    """Delete what lies under the destination.

    Args:
        role: Session of the handler's role.
        properties: Properties of the deployment.
        unless_owned: Whether a tag of the bucket may say that another deployment owns the prefix by now.
    """
    s3 = role.client("s3")
    bucket, prefix = properties["DestinationBucketName"], _prefix(properties)
    if unless_owned and _owned(s3, bucket, prefix.rstrip("/")):
        return
    for key in _keys(s3, bucket, prefix):
        s3.delete_object(Bucket=bucket, Key=key)


def _files(role: Session, properties: Mapping[str, Any]) -> dict[str, bytes]:
    buckets, keys = properties["SourceBucketNames"], properties["SourceObjectKeys"]
    markers = properties.get("SourceMarkers", [{} for _ in buckets])
    if not len(buckets) == len(keys) == len(markers):
        raise ResourceFailure("'source_markers' and 's3_source_zips' must be the same length")
    escapes = properties.get("SourceMarkersConfig", [{} for _ in buckets])
    s3 = role.client("s3")
    files: dict[str, bytes] = {}
    for bucket, key, replacements, escape in zip(buckets, keys, markers, escapes, strict=True):
        body = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            for name in archive.namelist():
                if not name.endswith("/"):
                    files[name] = _replaced(archive.read(name), replacements, escape)
    return files


def _replaced(content: bytes, replacements: Mapping[str, str], escape: Mapping[str, str]) -> bytes:
    as_json = escape.get("jsonEscape", "false").lower() == "true"
    for marker, value in replacements.items():
        text = json.dumps(value)[1:-1] if as_json else value
        content = content.replace(marker.encode(), text.encode())
    return content


def _prefix(properties: Mapping[str, Any]) -> str:
    prefix = str(properties.get("DestinationBucketKeyPrefix", "")).strip("/")
    return f"{prefix}/" if prefix else ""


def _keys(s3: Any, bucket: str, prefix: str) -> list[str]:
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    return [item["Key"] for page in pages for item in page.get("Contents", [])]


def _owned(s3: Any, bucket: str, prefix: str) -> bool:
    client_error = s3.exceptions.ClientError
    try:
        tags = s3.get_bucket_tagging(Bucket=bucket)["TagSet"]
    except client_error:  # the handler, too, takes whatever error for a bucket without tags
        return False
    return any(tag["Key"].startswith(f"{OWNER_TAG}:{prefix}" if prefix else OWNER_TAG) for tag in tags)
