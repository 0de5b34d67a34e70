"""Container Insights of CloudWatch on the EKS cluster."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_constructs.add_on_with_role import AddOnWithRole
from hyperpod_constructs.eks_control_plane import EksControlPlaneBase
from hyperpod_constructs.hyperpod_cluster import HyperPodClusterBase
from hyperpod_model.catalog.logs import container_log_group_name
from hyperpod_model.catalog.metrics import AGENT_POLICY, CONTAINER_INSIGHTS


class ContainerInsights(Construct):
    """``amazon-cloudwatch-observability``: figures and logs of containers into CloudWatch.

    Its pods get AWS's managed policy for the CloudWatch agent, by Pod Identity, which the add-on takes from
    version 3.1.0 on. CloudWatch charges for each observation and each line. Logs of containers go to
    ``/aws/containerinsights/<EKS cluster>/application``, which the add-on makes if it is not there; see
    ``ClusterObservability.keep_container_logs``. The add-on's configuration is its own, by which Fluent Bit
    sends them. Source: CloudWatch user guide, Container-Insights-setup-EKS-addon.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        control_plane: EKS cluster that gets the add-on, with ``eks-pod-identity-agent``.
        cluster: HyperPod cluster whose nodes run its pods; the add-on comes after it.
        version: Version of the add-on. Default: what EKS takes for its Kubernetes version.

    Attributes:
        add_on: The add-on with its role.
        log_group_name: Log group of what containers print.

    Raises:
        InvalidInputError: If an argument is of another kind, or the HyperPod cluster is one with Slurm.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        control_plane: EksControlPlaneBase,
        cluster: HyperPodClusterBase,
        version: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.add_on = AddOnWithRole(
            self,
            "AddOn",
            add_on=CONTAINER_INSIGHTS,
            control_plane=control_plane,
            cluster=cluster,
            version=version,
        )
        self.log_group_name = container_log_group_name(control_plane.cluster_name)
        self.add_on.role.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name(AGENT_POLICY))
