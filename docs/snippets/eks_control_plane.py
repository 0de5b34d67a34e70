"""An EKS cluster for HyperPod nodes, and the operators that come once they are there."""

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_iam as iam

from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.eks_control_plane import EksControlPlane
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.orchestrator import Orchestrator

app = App()
stack = Stack(app, "Training", env=Environment(region="us-west-2"))
network = ClusterNetwork(
    stack,
    "Network",
    availability_zone_id="usw2-az1",
    control_plane_availability_zone_ids=["usw2-az1", "usw2-az2"],
)
nodes = EfaSecurityGroup(stack, "Nodes", vpc=network.vpc)
control_plane = EksControlPlane(
    stack,
    "Eks",
    network=network,
    dependency_chart=DependencyChart.from_oci(
        "oci://111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod-helm-chart", version="0.1.0"
    ),
    administrators=[iam.Role.from_role_arn(stack, "Platform", "arn:aws:iam::111122223333:role/platform")],
)
control_plane.allow_nodes(nodes)
cluster = HyperPodCluster(
    stack,
    "Cluster",
    cluster_name="llm-train",
    orchestrator=Orchestrator.eks(control_plane),
    network=network,
    security_groups=[nodes],
    execution_role=ExecutionRole(
        stack,
        "Role",
        orchestrator="eks",
        subnets=[network.accelerator_subnet],
        security_groups=[nodes],
        pod_identity_cluster=control_plane,
    ),
    instance_groups=[
        InstanceGroup(name="system", instance_type="ml.m5.2xlarge", instance_count=2, min_instance_count=2),
        InstanceGroup(name="workers", instance_type="ml.p5.48xlarge", instance_count=16),
    ],
)
control_plane.install_operators(after=cluster)
app.synth()
