"""The role of nodes in a network that exists already."""

from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3

from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.execution_role import ExecutionRole

app = App()
stack = Stack(app, "Training")
subnet = ec2.Subnet.from_subnet_attributes(
    stack, "Subnet", subnet_id="subnet-0123456789abcdef0", route_table_id="rtb-0123456789abcdef0"
)
group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0")

nodes = ExecutionRole(
    stack,
    "Nodes",
    subnets=[subnet],
    security_groups=[group],
    checkpoint_bucket=CheckpointBucket(stack, "Checkpoints"),
)
s3.Bucket.from_bucket_name(stack, "Data", "training-data").grant_read(nodes)
app.synth()
