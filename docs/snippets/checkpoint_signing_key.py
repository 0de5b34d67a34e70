"""A signing key for checkpoints: the trainer signs and verifies, the evaluator verifies only."""

from aws_cdk import App, Stack
from aws_cdk import aws_iam as iam

from hyperpod_constructs.checkpoint_signing_key import CheckpointSigningKey

app = App()
stack = Stack(app, "Training")
trainer = iam.Role(stack, "Trainer", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
evaluator = iam.Role(stack, "Evaluator", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))

signing = CheckpointSigningKey(stack, "Signing")
signing.grant_sign(trainer)
signing.grant_verify(evaluator)
app.synth()
