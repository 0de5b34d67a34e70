"""Sixteen training nodes."""

from hyperpod_constructs import InstanceGroup
from hyperpod_constructs.slurm_node_type import SlurmNodeType

workers = InstanceGroup(
    name="workers",
    instance_type="ml.p5.48xlarge",
    instance_count=16,
    min_instance_count=8,  # the deployment waits for eight
    threads_per_core=1,  # no simultaneous multithreading
    slurm_node_type=SlurmNodeType.COMPUTE,
    partition_names=["train"],
    secondary_volume_size_gib=1000,
    deep_health_checks=["InstanceStress"],  # whatever the resilience policy says
)
