"""A corpus in S3 that nodes read as files."""

from aws_cdk import App, Stack
from aws_cdk import aws_s3 as s3

from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.data_repository_association import DataRepositoryAssociation
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
    backup_retention_days=0,  # FSx takes no backups of a linked file system
    removal=FileSystemRemoval.RETAIN,
)
DataRepositoryAssociation(
    stack,
    "Corpus",
    file_system=file_system,
    bucket=s3.Bucket.from_bucket_name(stack, "Data", "my-team-data"),
    prefix="corpus/",
    file_system_path="/corpus",
)
app.synth()
