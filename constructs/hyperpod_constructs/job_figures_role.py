"""The role of the pods that put figures of jobs."""

from __future__ import annotations

from constructs import Construct

from hyperpod_constructs.attached_permissions import RoleWithAttachedPermissions
from hyperpod_constructs.eks_cluster import EksCluster
from hyperpod_constructs.training_pod_role import pod_identity_principal
from hyperpod_model.catalog.job_figures import PUT_ACTION
from hyperpod_model.catalog.logs import METRIC_NAMESPACE


class JobFiguresRole(RoleWithAttachedPermissions):
    """Puts metrics into ``/aws/sagemaker/Clusters``, and does nothing else.

    It takes a session of EKS Pod Identity of exactly one cluster, namespace and service account.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        control_plane: The EKS cluster.
        namespace: Kubernetes namespace of the pods.
        service_account: Their Kubernetes service account.
    """

    _holder = "the check of jobs"

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        control_plane: EksCluster,
        namespace: str,
        service_account: str,
    ) -> None:
        super().__init__(
            scope,
            id,
            assumed_by=pod_identity_principal(control_plane, namespace, service_account),
            description="Pods that put figures of jobs",
        )
        self._allow(
            "PublishJobFigures",
            [PUT_ACTION],
            ["*"],
            {"StringEquals": {"cloudwatch:namespace": METRIC_NAMESPACE}},
        )
