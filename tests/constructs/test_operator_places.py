"""Whether the pods of operators find a node once a HyperPod cluster is in service, and credentials on it."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Annotations, Match

from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.eks_control_plane import EksControlPlane, EksControlPlaneBase
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.kubernetes_taint import KubernetesTaint
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.resilience_policy import ResiliencePolicy

ZONES = ["usw2-az1", "usw2-az2"]
ARN = "arn:aws:eks:us-west-2:111122223333:cluster/training"
WORKERS = InstanceGroup(
    name="workers", instance_type="ml.p5.48xlarge", instance_count=4, min_instance_count=4
)
TAINT = KubernetesTaint(key="example.com/team", effect="NoSchedule", value="research")
MILD_TAINT = KubernetesTaint(key="example.com/team", effect="PreferNoSchedule", value="research")


def _system(**options: Any) -> InstanceGroup:
    given = {"instance_type": "ml.m5.2xlarge", "instance_count": 2, "min_instance_count": 1, **options}
    return InstanceGroup(name="system", **given)


def _made(stack: Stack, network: ClusterNetwork) -> EksControlPlane:
    layer = "arn:aws:lambda:us-west-2:111122223333:layer:kubectl:1"
    return EksControlPlane(
        stack,
        "Eks",
        network=network,
        dependency_chart=DependencyChart.installed(),
        kubectl_layer=lambda_.LayerVersion.from_layer_version_arn(stack, "Layer", layer),
    )


def _existing(stack: Stack, _network: ClusterNetwork) -> EksControlPlaneBase:
    return EksControlPlane.from_existing(
        stack,
        "Eks",
        cluster_arn=ARN,
        dependency_chart=DependencyChart.installed(),
        operators=["coredns"],
    )


def _warnings(
    groups: list[InstanceGroup],
    *,
    control_plane: Any = _made,
    name: str = "noPlaceForOperators",
    pod_identity: bool = False,
    **options: Any,
) -> list[str]:
    stack = Stack(App(), "Training")
    if options.pop("late", False):
        least = CfnParameter(stack, "Least", type="Number").value_as_number
        groups = [*groups, _system(min_instance_count=least)]
    if (other := options.pop("other_role", None)) is not None:
        role = iam.Role.from_role_arn(stack, "Other", other)
        theirs: dict[str, Any] = {
            "instance_type": "ml.m5.2xlarge",
            "instance_count": 1,
            "execution_role": role,
        }
        groups = [*groups, InstanceGroup(name="theirs", **theirs)]
    network = ClusterNetwork(
        stack, "Network", availability_zone_id=ZONES[0], control_plane_availability_zone_ids=ZONES
    )
    nodes = EfaSecurityGroup(stack, "Nodes", vpc=network.vpc)
    eks = control_plane(stack, network)
    cluster = HyperPodCluster(
        stack,
        "Cluster",
        cluster_name="llm-train",
        orchestrator=Orchestrator.eks(eks),
        network=network,
        security_groups=[nodes],
        execution_role=ExecutionRole(
            stack,
            "Role",
            orchestrator="eks",
            subnets=[network.accelerator_subnet],
            security_groups=[nodes],
            pod_identity_cluster=eks if pod_identity else None,
        ),
        instance_groups=groups,
        **{"resilience": ResiliencePolicy(spare_nodes=1), **options},
    )
    eks.install_operators(after=cluster)
    found = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp(f".*{name}.*"))
    return [str(entry.entry.data) for entry in found]


@pytest.mark.parametrize(
    "groups",
    [
        [WORKERS],
        [WORKERS, _system(min_instance_count=None)],
        [WORKERS, _system(min_instance_count=0)],
        [WORKERS, _system(kubernetes_taints=[TAINT])],
    ],
    ids=["checked", "not awaited", "none awaited", "tainted"],
)
def test_operators_without_a_node_to_run_on_leave_a_warning(groups: list[InstanceGroup]) -> None:
    (said,) = _warnings(groups)
    assert "coredns, aws-fsx-csi-driver, cert-manager, amazon-sagemaker-hyperpod-training-operator" in said
    assert "add an instance group with min_instance_count, no deep health checks and no taints" in said


@pytest.mark.parametrize(
    "groups",
    [
        [WORKERS, _system()],
        [WORKERS, _system(kubernetes_taints=[MILD_TAINT])],
        [
            InstanceGroup(
                name="workers",
                instance_type="ml.p5.48xlarge",
                instance_count=4,
                min_instance_count=4,
                deep_health_checks=[],
            )
        ],
    ],
    ids=["system", "mildly tainted", "unchecked"],
)
def test_one_group_that_takes_pods_at_once_is_enough(groups: list[InstanceGroup]) -> None:
    assert _warnings(groups) == []


def test_a_count_known_at_deployment_only_passes() -> None:
    assert _warnings([WORKERS], late=True) == []


def test_a_cluster_that_waits_for_all_its_nodes_needs_no_least_count() -> None:
    workers = InstanceGroup(name="workers", instance_type="ml.p5.48xlarge", instance_count=4)
    groups = [workers, _system(min_instance_count=None)]
    assert _warnings(groups, node_provisioning_mode=None) == []


def test_an_existing_eks_cluster_may_have_nodes() -> None:
    assert _warnings([WORKERS], control_plane=_existing) == []


def test_nodes_that_cannot_hand_out_the_roles_of_operators_leave_a_warning() -> None:
    (said,) = _warnings([WORKERS, _system()], name="noPodIdentity")
    assert "nodes with the role 'Training/Role'" in said
    assert "aws-fsx-csi-driver, amazon-sagemaker-hyperpod-training-operator get no credentials" in said
    assert "pass the control plane as pod_identity_cluster" in said


def test_nodes_that_can_leave_none() -> None:
    assert _warnings([WORKERS, _system()], name="noPodIdentity", pod_identity=True) == []


def test_operators_without_a_role_need_none() -> None:
    assert _warnings([WORKERS], control_plane=_existing, name="noPodIdentity") == []


def test_what_the_role_of_somebody_else_may_do_is_not_judged() -> None:
    other = "arn:aws:iam::111122223333:role/nodes"
    groups = [WORKERS, _system()]
    assert _warnings(groups, name="noPodIdentity", pod_identity=True, other_role=other) == []
