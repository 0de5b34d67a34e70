"""Figures of queues, nodes and containers for a HyperPod cluster on an existing EKS cluster."""

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_logs as logs

from hyperpod_constructs import (
    ContainerInsights,
    EksControlPlane,
    HyperPodCluster,
    HyperPodObservabilityAddOn,
    ManagedGrafana,
    ManagedPrometheus,
    NoticeTopic,
    RecoveryFigures,
)
from hyperpod_constructs.dependency_chart import DependencyChart

app = App()
stack = Stack(app, "Figures", env=Environment(account="111122223333", region="us-west-2"))
cluster = HyperPodCluster.from_cluster_attributes(
    stack,
    "Cluster",
    cluster_arn="arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefgh1234",
    cluster_name="llm-train",
)
control_plane = EksControlPlane.from_existing(
    stack,
    "Eks",
    cluster_arn="arn:aws:eks:us-west-2:111122223333:cluster/training",
    dependency_chart=DependencyChart.installed(),
)

prometheus = ManagedPrometheus(
    stack,
    "Prometheus",
    cluster=cluster,
    notices=NoticeTopic(stack, "Notices", emails=["oncall@example.com"]),
    wait_alert_minutes=90,
    preemption_alert_count=20,
)
HyperPodObservabilityAddOn(
    stack,
    "Collection",
    control_plane=control_plane,
    cluster=cluster,
    prometheus=prometheus,
    metric_levels={"trainingMetrics": "BASIC", "acceleratedComputeMetrics": "ADVANCED"},
)
ManagedGrafana(stack, "Grafana", cluster=cluster, prometheus=prometheus)
ContainerInsights(stack, "ContainerInsights", control_plane=control_plane, cluster=cluster)

recoveries = RecoveryFigures(
    stack,
    "Recoveries",
    log_group=logs.LogGroup.from_log_group_name(stack, "Records", "/training/recovery-records"),
    cluster_name="llm-train",
)
