"""How checkpoints are tiered, and what the job's side reads from the stack."""

from aws_cdk import App, Stack
from aws_cdk import aws_eks_v2 as eks

from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.tiered_checkpointing import TieredCheckpointing
from hyperpod_constructs.training_pod_role import TrainingPodRole

app = App()
stack = Stack(app, "Training")
tiered = TieredCheckpointing(memory_percentage=20, s3_interval_steps=500)
checkpoints = CheckpointBucket(stack, "Checkpoints")
pods = TrainingPodRole(
    stack,
    "Pods",
    control_plane=eks.Cluster.from_cluster_attributes(stack, "Eks", cluster_name="training"),
    namespace="hyperpod-ns-research",
    service_account="trainer",
    checkpoint_bucket=checkpoints,
    tiered=True,
)
tiered.add_outputs(stack, checkpoint_bucket=checkpoints, training_pod_role=pods)
off = TieredCheckpointing.disabled()
app.synth()
