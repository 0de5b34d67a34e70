"""Ask S3 of the double in the name of several callers, and tell whether it lets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

from aws_double.session import Session

REFUSED = {"AccessDenied", "403"}


def anonymous(session: Session) -> Any:
    """A client of S3 that signs nothing."""
    return boto3.client(
        "s3",
        endpoint_url=session.endpoint,
        region_name=session.region,
        config=Config(
            signature_version=UNSIGNED, s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}
        ),
    )


def lets(call: Callable[[], Any]) -> bool:
    """Whether a call goes through; any error but a refusal is raised."""
    try:
        answer = call()
    except ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        if status != 403 or error.response["Error"]["Code"] not in REFUSED:
            raise
        return False
    return not answer.get("Errors")


def upload_in_parts(s3: Any, bucket: str, key: str) -> dict[str, Any]:
    """Write an object by a multipart upload."""
    upload = s3.create_multipart_upload(Bucket=bucket, Key=key)["UploadId"]
    part = s3.upload_part(Bucket=bucket, Key=key, UploadId=upload, PartNumber=1, Body=b"1")
    parts = [{"ETag": part["ETag"], "PartNumber": 1}]
    answer: dict[str, Any] = s3.complete_multipart_upload(
        Bucket=bucket, Key=key, UploadId=upload, MultipartUpload={"Parts": parts}
    )
    return answer
