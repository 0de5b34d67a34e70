"""Graphs of jobs and alarms on waiting and preemptions, and the check that puts their figures on EKS."""

import cdk8s
from aws_cdk import App, Stack

from hyperpod_charts.job_figures_check import JobFiguresCheck
from hyperpod_constructs.cluster_observability import ClusterObservability
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.job_figures import JobFigures

app = App()
stack = Stack(app, "Training")
cluster = HyperPodCluster.from_cluster_attributes(
    stack,
    "Cluster",
    cluster_arn="arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl",
    cluster_name="llm-train",
)
watch = ClusterObservability(stack, "Observability", cluster=cluster, emails=["oncall@example.com"])
jobs = JobFigures(
    stack,
    "Jobs",
    cluster=cluster,
    notices=watch.notices,
    queues=["hyperpod-ns-research", "hyperpod-ns-product"],
    wait_alert_minutes=60,
    preemption_alert_count=10,
)
app.synth()

manifests = cdk8s.App()
JobFiguresCheck(
    manifests,
    "JobFigures",
    cluster_name="llm-train",
    region="us-west-2",
    image="111122223333.dkr.ecr.us-west-2.amazonaws.com/job-figures:1.0.0",
)
print(manifests.synth_yaml())
