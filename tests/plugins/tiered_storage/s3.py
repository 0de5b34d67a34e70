"""A stand-in for Amazon S3: moto's server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import boto3
from moto.server import ThreadedMotoServer

_REGION = "us-west-2"


@contextmanager
def s3_bucket(uri: str) -> Iterator[str]:
    """Serve an empty bucket, and yield the address of the server.

    Args:
        uri: A URI in the bucket.
    """
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        client = boto3.client(
            "s3",
            endpoint_url=address,
            region_name=_REGION,
            aws_access_key_id="nobody",
            aws_secret_access_key="nothing",
        )
        client.create_bucket(
            Bucket=urlsplit(uri).netloc, CreateBucketConfiguration={"LocationConstraint": _REGION}
        )
        yield address
    finally:
        server.stop()
