"""A monthly budget with an alarm on an idle fleet, and a campaign."""

from aws_cdk import App, Stack

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
