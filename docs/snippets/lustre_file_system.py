"""A file system for the nodes that outlives its stack."""

from aws_cdk import App, CfnOutput, Stack

from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.lustre_file_system import FileSystemRemoval, LustreFileSystem

app = App()
stack = Stack(app, "Training")
network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az2")
nodes = EfaSecurityGroup(stack, "Nodes", vpc=network.vpc)
file_system = LustreFileSystem(
    stack,
    "FileSystem",
    vpc=network.vpc,
    subnet=network.accelerator_subnet,
    client_security_groups=[nodes],
    storage_capacity_gib=4800,
    throughput_mbps_per_tib=250,
    removal=FileSystemRemoval.RETAIN,
)
CfnOutput(stack, "MountSource", value=f"{file_system.dns_name}@tcp:/{file_system.mount_name}")
app.synth()
