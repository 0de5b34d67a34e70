"""Notices, alarms and a dashboard for a cluster that another stack has made."""

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs

from hyperpod_constructs import ClusterObservability, HyperPodCluster

app = App()
stack = Stack(app, "Watch", env=Environment(account="111122223333", region="us-west-2"))
cluster = HyperPodCluster.from_cluster_attributes(
    stack,
    "Cluster",
    cluster_arn="arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefgh1234",
    cluster_name="llm-train",
)
jobs = iam.Role(stack, "Jobs", assumed_by=iam.ServicePrincipal("pods.eks.amazonaws.com"))

watch = ClusterObservability(
    stack,
    "Observability",
    cluster=cluster,
    continuous_provisioning=True,
    emails=["oncall@example.com"],
    job_log_groups=[
        logs.LogGroup.from_log_group_name(stack, "JobLogs", "/aws/containerinsights/llm/application")
    ],
)
watch.grant_notify(jobs)
