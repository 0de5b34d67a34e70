"""The platform chart of training jobs, applied with the stack."""

from __future__ import annotations

from typing import Final

import cdk8s
from aws_cdk import RemovalPolicy
from constructs import Construct

from hyperpod_charts.platform_chart import LustreFileSystemReference, PlatformChart
from hyperpod_constructs.applied_chart import applied_chart
from hyperpod_constructs.eks_control_plane import EksControlPlaneBase
from hyperpod_constructs.lustre_file_system import LustreFileSystem
from hyperpod_constructs.training_pod_role import TrainingPodRole
from hyperpod_model.catalog.jobs import AUTO_RESUME_NAMESPACE

CLAIM_NAME: Final = "fsx"
"""By which jobs mount the cluster's file system."""


class PlatformManifest(Construct):
    """Namespace, service account, file system and network policy for jobs, in the EKS cluster of the stack.

    ``kubectl apply`` puts them there, after the dependency chart. What is taken out of the chart, or renamed,
    stays in the EKS cluster, and so does everything when this construct goes: deleting a namespace would
    delete the jobs in it.

    Attributes:
        manifest: What is applied.

    Args:
        scope: Parent of the construct. Never the control plane, which the HyperPod cluster waits for.
        id: Id within the parent.
        control_plane: The EKS cluster, with the function that installed its dependency chart.
        role: Role of the training pods, whose namespace and service account are made.
        file_system: File system of the cluster. Default none.
        storage_capacity_gib: Its size in GiB. Required with ``file_system``.
        tiered: Whether jobs write through the memory tier, whose logs are in a folder of the node. Default
            False.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        control_plane: EksControlPlaneBase,
        role: TrainingPodRole,
        file_system: LustreFileSystem | None = None,
        storage_capacity_gib: int | None = None,
        tiered: bool = False,
    ) -> None:
        super().__init__(scope, id)
        # In kubeflow the dependency chart's operator runs as well.
        loose = tiered or role.namespace == AUTO_RESUME_NAMESPACE
        chart = PlatformChart(
            cdk8s.App(),
            id,
            namespace=role.namespace,
            pod_security="privileged" if loose else "baseline",
            service_account_name=role.service_account,
            role_arn=role.role_arn if role.association is None else None,
            file_system=_reference(file_system, storage_capacity_gib),
            claim_name=CLAIM_NAME,
        )
        self.manifest = applied_chart(
            self, chart, control_plane=control_plane, removal_policy=RemovalPolicy.RETAIN
        )


def _reference(
    file_system: LustreFileSystem | None, storage_capacity_gib: int | None
) -> LustreFileSystemReference | None:
    if file_system is None:
        return None
    if storage_capacity_gib is None:
        raise ValueError("storage_capacity_gib is missing; give the size of file_system in GiB")
    return LustreFileSystemReference(
        file_system_id=file_system.file_system_id,
        dns_name=file_system.dns_name,
        mount_name=file_system.mount_name,
        storage_capacity_gib=storage_capacity_gib,
    )
