"""Two roles for pods of an EKS cluster that exists already: one by Pod Identity, one by token."""

from aws_cdk import App, Stack
from aws_cdk import aws_eks_v2 as eks

from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.training_pod_role import TrainingPodRole

app = App()
stack = Stack(app, "Training")
cluster = eks.Cluster.from_cluster_attributes(stack, "Eks", cluster_name="training")
checkpoints = CheckpointBucket(stack, "Checkpoints")

trainer = TrainingPodRole(
    stack,
    "Trainer",
    control_plane=cluster,
    namespace="hyperpod-ns-research",
    service_account="trainer",
    checkpoint_bucket=checkpoints,
    tiered=True,
)
evaluator = TrainingPodRole.irsa(
    stack,
    "Evaluator",
    issuer="oidc.eks.us-west-2.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE",
    namespace="hyperpod-ns-research",
    service_account="evaluator",
)
checkpoints.grant_read(evaluator)
app.synth()
