"""A monthly budget with an alarm on an idle fleet, a campaign, and the check of an EKS cluster."""

import cdk8s
from aws_cdk import App, Stack

from hyperpod_charts.job_figures_check import JobFiguresCheck
from hyperpod_constructs.budget_guard import BudgetGuard
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster

app = App()
stack = Stack(app, "Training")
cluster = HyperPodCluster.from_cluster_attributes(
    stack,
    "Cluster",
    cluster_arn="arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl",
    cluster_name="llm-train",
)
guard = BudgetGuard(
    stack,
    "Budget",
    cluster=cluster,
    limit_usd=650_000,
    cost_per_hour_usd=890,
    idle_hours=4,
    emails=["finance@example.com"],
)
BudgetGuard(
    stack,
    "Campaign",
    cluster=cluster,
    limit_usd=900_000,
    start_date="2027-01-15",
    end_date="2027-02-28",
    notices=guard.notices,
    idle_hours=None,
)
app.synth()

manifests = cdk8s.App()
JobFiguresCheck(
    manifests,
    "RunningJobs",
    cluster_name="llm-train",
    region="us-west-2",
    image="111122223333.dkr.ecr.us-west-2.amazonaws.com/count-jobs:1.0.0",
)
print(manifests.synth_yaml())
