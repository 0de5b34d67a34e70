"""Three teams that share a cluster, and a job of one of them."""

from aws_cdk import App, Stack

from hyperpod_charts import queue_labels, team_namespace
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.task_governance import TaskGovernance, TeamQuota

app = App()
stack = Stack(app, "Training")
cluster = HyperPodCluster.from_cluster_attributes(
    stack,
    "Cluster",
    cluster_arn="arn:aws:sagemaker:us-east-1:111122223333:cluster/abcdefghijkl",
    cluster_name="llm-train",
)
sharing = TaskGovernance(
    stack,
    "Sharing",
    cluster=cluster,
    capacity={"ml.p5.48xlarge": 16},
    spare_nodes=1,
    priority_classes={"evaluation": 80, "training": 50},
    teams=[
        TeamQuota(team="research", instances={"ml.p5.48xlarge": 8}, fair_share_weight=60),
        TeamQuota(team="product", instances={"ml.p5.48xlarge": 4}, borrow_limit_percent=100),
        TeamQuota(team="infra", instances={"ml.p5.48xlarge": 2}, strategy="DontLend"),
    ],
)
print(sharing.plan)
namespace = team_namespace("research")
labels = queue_labels(team="research", priority_class="training")
app.synth()
