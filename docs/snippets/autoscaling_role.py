"""The role that HyperPod adds and removes nodes with."""

from aws_cdk import App, Stack
from aws_cdk import aws_kms as kms

from hyperpod_constructs.autoscaling_role import AutoscalingRole

app = App()
stack = Stack(app, "Training")
volumes = kms.Key(stack, "Volumes", enable_key_rotation=True)
AutoscalingRole(stack, "Autoscaling", volume_keys=[volumes])
app.synth()
