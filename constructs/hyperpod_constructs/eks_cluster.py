"""What roles have to know of an EKS cluster."""

from __future__ import annotations

from typing import Protocol

from aws_cdk import ArnFormat, Stack
from constructs import IConstruct


class EksCluster(Protocol):
    """An EKS cluster, be it an ``EksControlPlane`` or an ``ICluster`` of ``aws_eks_v2``."""

    @property
    def cluster_arn(self) -> str:
        """ARN of the cluster, which may be a Token."""


def eks_cluster_name(scope: IConstruct, cluster: EksCluster) -> str:
    """Name of an EKS cluster: as the object has it, else the end of its ARN.

    Args:
        scope: Where the name is used.
        cluster: The cluster.
    """
    name = getattr(cluster, "cluster_name", None)
    if isinstance(name, str):
        return name
    parts = Stack.of(scope).split_arn(cluster.cluster_arn, ArnFormat.SLASH_RESOURCE_NAME)
    assert parts.resource_name is not None
    return parts.resource_name
