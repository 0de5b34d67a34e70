"""A bearer token for the Kubernetes API of an EKS cluster, made of the AWS credentials."""

from __future__ import annotations

import base64
from typing import Final

from hyperpod_lifecycle.operations.aws import Aws

_SECONDS: Final = 60


def token_for(aws: Aws, eks_cluster: str) -> str:
    """Return a bearer token for the Kubernetes API of an EKS cluster: a signed URL of STS, in base64.

    Args:
        aws: Clients.
        eks_cluster: Name of the EKS cluster.

    Raises:
        OperationError: If there are no credentials.
    """
    from botocore.auth import SigV4QueryAuth
    from botocore.awsrequest import AWSRequest

    host = aws.client("sts").meta.endpoint_url
    request = AWSRequest(
        "GET",
        f"{host.rstrip('/')}/",
        params={"Action": "GetCallerIdentity", "Version": "2011-06-15"},
        headers={"x-k8s-aws-id": eks_cluster},
    )
    SigV4QueryAuth(aws.credentials(), "sts", aws.region, expires=_SECONDS).add_auth(request)
    url = request.prepare().url
    return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
