"""What the pods of operators find on a HyperPod cluster: nodes from the beginning, and credentials."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.tokens import known
from hyperpod_model.faults import UNKNOWN

if TYPE_CHECKING:
    from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
    from hyperpod_constructs.instance_group import InstanceGroup

_REPELS = ("NoSchedule", "NoExecute")


def takes_pods_at_once(cluster: HyperPodCluster) -> bool:
    """Whether some group takes any pod as soon as the cluster is in service.

    Nodes with deep health checks repel pods until they have passed, for about two hours. With continuous
    provisioning a cluster waits for nodes only where a group has a ``min_instance_count``. Source: SageMaker
    developer guide, sagemaker-hyperpod-eks-resiliency-node-labels and sagemaker-hyperpod-scaling-slurm.

    Args:
        cluster: A cluster on EKS. What is known at deployment only counts as if it were so.
    """
    resource = cluster.node.default_child
    assert isinstance(resource, sagemaker.CfnCluster)
    waits_for_all = resource.node_provisioning_mode is None
    return any(_takes_pods(cluster, group, waits_for_all=waits_for_all) for group in cluster.instance_groups)


def roles_that_hand_out_none(clusters: Iterable[HyperPodCluster]) -> list[str]:
    """Paths of the nodes' roles with which the Pod Identity agent gets no credentials for pods.

    The agent calls ``eks-auth:AssumeRoleForPodIdentity`` with the role of its node, whoever's association it
    is. Source: EKS user guide, pod-id-agent-setup. Only an ``ExecutionRole`` is known.

    Args:
        clusters: Clusters on EKS.
    """
    return sorted(
        {
            role.node.path
            for cluster in clusters
            for role in cluster.execution_roles
            if isinstance(role, ExecutionRole) and not role.hands_out_roles
        }
    )


def _takes_pods(cluster: HyperPodCluster, group: InstanceGroup, *, waits_for_all: bool) -> bool:
    awaited = known(group.instance_count if waits_for_all else group.min_instance_count)
    taints = () if group.kubernetes_taints is None else group.kubernetes_taints
    return (
        (awaited is UNKNOWN or (isinstance(awaited, int) and awaited > 0))
        and not cluster.deep_health_checks_of(group)
        and not any(taint.effect in _REPELS for taint in taints)
    )
