"""An app with one broken promise, run as a process: where its output goes, and whether it is acknowledged."""

from __future__ import annotations

import sys

from aws_cdk import Acknowledgment, App, Stack, Validations
from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs.hyperpod_checks import HyperPodChecks
from hyperpod_policy.registry import rule

app = App(outdir=sys.argv[1])
cluster = sagemaker.CfnCluster(Stack(app, "Stack"), "Cluster", cluster_name="llm-train", node_recovery="None")
if sys.argv[2] == "yes":
    Validations.of(cluster).acknowledge(
        Acknowledgment(id="HyperPodChecks::NodeRecovery", reason="operators replace nodes by hand")
    )
Validations.of(app).add_plugins(HyperPodChecks(app, rules=[rule("NodeRecovery")]))
app.synth()
