"""A chart that the stack applies to the EKS cluster it makes."""

from __future__ import annotations

import cdk8s
from aws_cdk import RemovalPolicy
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from hyperpod_constructs.eks_control_plane import EksControlPlaneBase


def applied_chart(
    scope: Construct,
    chart: cdk8s.Chart,
    *,
    control_plane: EksControlPlaneBase,
    removal_policy: RemovalPolicy,
) -> eks.KubernetesManifest:
    """Apply a chart after the dependency chart. What is taken out of it later stays in the EKS cluster.

    Args:
        scope: Construct that the manifest is the resource of.
        chart: The objects.
        control_plane: The EKS cluster, with the function that installed its dependency chart.
        removal_policy: Whether the objects go with the construct.
    """
    manifest = eks.KubernetesManifest(
        scope,
        "Resource",
        cluster=control_plane.cluster,
        manifest=chart.to_json(),
        overwrite=True,
        prune=False,
        removal_policy=removal_policy,
    )
    manifest.node.add_dependency(control_plane)
    return manifest
