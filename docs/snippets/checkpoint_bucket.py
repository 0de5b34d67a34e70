"""A checkpoint bucket in a stack that has nothing else of this library."""

from aws_cdk import App, Stack
from aws_cdk import aws_iam as iam

from hyperpod_constructs.checkpoint_bucket import CheckpointBucket

app = App()
stack = Stack(app, "Training")
trainer = iam.Role(stack, "Trainer", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
evaluator = iam.Role(stack, "Evaluator", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))

checkpoints = CheckpointBucket(stack, "Checkpoints")
checkpoints.grant_checkpointing(trainer)
checkpoints.grant_read(evaluator)
app.synth()
