"""A security group for EFA nodes in a VPC that exists already."""

from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2

from hyperpod_constructs.efa_security_group import EfaSecurityGroup

app = App()
stack = Stack(app, "Training")
vpc = ec2.Vpc.from_vpc_attributes(
    stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
)
nodes = EfaSecurityGroup(stack, "Nodes", vpc=vpc)
nodes.add_named_egress(
    "PackageMirrorEgress",
    peer=ec2.Peer.any_ipv4(),
    port=ec2.Port.tcp(80),
    description="Ubuntu package mirror",
)
nodes.connections.allow_from(ec2.Peer.ipv4("10.0.64.0/24"), ec2.Port.tcp(22), "bastion")
app.synth()
