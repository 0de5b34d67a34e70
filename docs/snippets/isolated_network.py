"""A network for an EKS cluster in which nothing leads to the internet."""

from aws_cdk import App, Stack

from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.efa_security_group import EfaSecurityGroup

app = App()
stack = Stack(app, "Training")
network = ClusterNetwork(
    stack,
    "Network",
    availability_zone_id="usw2-az2",  # the zone of your training plan or capacity reservation
    isolated=True,
    control_plane_availability_zone_ids=["usw2-az1", "usw2-az2"],
    optional_endpoints=["fsx"],
)
nodes = EfaSecurityGroup(stack, "Nodes", vpc=network.vpc, https_egress=False)
nodes.allow_endpoints(network.endpoints)
app.synth()
