"""The check of jobs, applied with the stack."""

from __future__ import annotations

import cdk8s
from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_eks as l1_eks
from constructs import Construct

from hyperpod_charts.job_figures_check import (
    JOB_FIGURES_NAME,
    JOB_FIGURES_NAMESPACE,
    JobFiguresCheck,
)
from hyperpod_constructs.applied_chart import applied_chart
from hyperpod_constructs.eks_cluster import eks_cluster_name
from hyperpod_constructs.eks_control_plane import EksControlPlaneBase
from hyperpod_constructs.job_figures_role import JobFiguresRole


class JobFiguresManifest(Construct):
    """The CronJob that puts figures of jobs, in the EKS cluster of the stack, and the role of its pods.

    The role takes a session of EKS Pod Identity of exactly this cluster, namespace and service account, and
    may put metrics into ``/aws/sagemaker/Clusters``, nothing else. What is applied goes with this construct.

    Attributes:
        role: The role.
        association: What gives it to the pods.
        manifest: What is applied.

    Args:
        scope: Parent of the construct. Never the control plane, which the HyperPod cluster waits for.
        id: Id within the parent.
        control_plane: The EKS cluster, with the function that installed its dependency chart.
        cluster_name: Name of the HyperPod cluster.
        image: See ``JobFiguresCheck``.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        control_plane: EksControlPlaneBase,
        cluster_name: str,
        image: str,
    ) -> None:
        super().__init__(scope, id)
        self.role = JobFiguresRole(
            self,
            "Role",
            control_plane=control_plane,
            namespace=JOB_FIGURES_NAMESPACE,
            service_account=JOB_FIGURES_NAME,
        )
        self.association = l1_eks.CfnPodIdentityAssociation(
            self,
            "Association",
            cluster_name=eks_cluster_name(self, control_plane),
            namespace=JOB_FIGURES_NAMESPACE,
            service_account=JOB_FIGURES_NAME,
            role_arn=self.role.role_arn,
        )
        chart = JobFiguresCheck(
            cdk8s.App(), id, cluster_name=cluster_name, region=Stack.of(self).region, image=image
        )
        self.manifest = applied_chart(
            self, chart, control_plane=control_plane, removal_policy=RemovalPolicy.DESTROY
        )
        self.manifest.node.add_dependency(self.association)
