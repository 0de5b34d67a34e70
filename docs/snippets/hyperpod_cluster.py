"""A Slurm cluster of 16 p5.48xlarge with a spare, and all it needs."""

from aws_cdk import App, Environment, Stack

from hyperpod_constructs import (
    ClusterNetwork,
    EfaSecurityGroup,
    ExecutionRole,
    HyperPodCluster,
    InstanceGroup,
    LifecycleScripts,
    LustreFileSystem,
    Orchestrator,
    ResiliencePolicy,
)
from hyperpod_constructs.slurm_node_type import SlurmNodeType

app = App()
stack = Stack(app, "Training", env=Environment(region="us-west-2"))
network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az1")
nodes = EfaSecurityGroup(stack, "Nodes", vpc=network.vpc)
scripts = LifecycleScripts(stack, "Scripts")
file_system = LustreFileSystem(
    stack,
    "FileSystem",
    vpc=network.vpc,
    subnet=network.accelerator_subnet,
    client_security_groups=[nodes],
    storage_capacity_gib=4800,
    throughput_mbps_per_tib=250,
)
role = ExecutionRole(
    stack,
    "Role",
    subnets=[network.accelerator_subnet],
    security_groups=[nodes],
    lifecycle_scripts=scripts,
)
cluster = HyperPodCluster(
    stack,
    "Cluster",
    cluster_name="llm-train",
    orchestrator=Orchestrator.slurm(),
    network=network,
    security_groups=[nodes],
    execution_role=role,
    lifecycle_scripts=scripts,
    file_system=file_system,
    resilience=ResiliencePolicy(spare_nodes=1),
    instance_groups=[
        InstanceGroup(
            name="controller",
            instance_type="ml.m5.2xlarge",
            instance_count=1,
            slurm_node_type=SlurmNodeType.CONTROLLER,
        ),
        InstanceGroup(
            name="workers",
            instance_type="ml.p5.48xlarge",
            instance_count=16,
            threads_per_core=1,
            slurm_node_type=SlurmNodeType.COMPUTE,
            partition_names=["train"],
        ),
    ],
)
app.synth()
