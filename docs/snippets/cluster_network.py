"""A network for a cluster of 16 nodes in one zone."""

from aws_cdk import App, Stack

from hyperpod_constructs.cluster_network import ClusterNetwork

app = App()
stack = Stack(app, "Training")
network = ClusterNetwork(
    stack,
    "Network",
    availability_zone_id="usw2-az2",  # the zone of your training plan or capacity reservation
    vpc_cidr="10.0.0.0/16",
    accelerator_subnet_prefix_length=17,
)
network.check_capacity(
    groups=[("controller", "ml.m5.2xlarge", 1), ("workers", "ml.p5.48xlarge", 16)], orchestrator="slurm"
)
app.synth()
