"""Figures in a whole stack, and none where none are asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App, assertions
from stacks import only, resources

from hyperpod_constructs import HyperPodStack
from hyperpod_constructs.specified_node_parameters import node_parameters_of
from hyperpod_model.cluster_spec import ClusterSpec

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDER = "/fsx/checkpoints/recovery"
ADD_ON, FILTER = "AWS::EKS::Addon", "AWS::Logs::MetricFilter"
KEPT = "Custom::NodeLogGroup"
HYPERPOD, INSIGHTS = "amazon-sagemaker-hyperpod-observability", "amazon-cloudwatch-observability"


def specified(name: str, **changes: Any) -> ClusterSpec:
    said = yaml.safe_load((EXAMPLES / name).read_text("utf-8"))
    return ClusterSpec.model_validate(said | changes)


def rendered(spec: ClusterSpec) -> dict[str, Any]:
    return dict(assertions.Template.from_stack(HyperPodStack(App(), "HyperPodStack", spec=spec)).to_json())


def add_ons(template: dict[str, Any]) -> dict[str, Any]:
    found = resources(template, ADD_ON).values()
    return {one["Properties"]["AddonName"]: one for one in found}


@pytest.fixture(scope="module")
def eks() -> dict[str, Any]:
    said = {"prometheus": True, "grafana_authentication": ["AWS_SSO"], "container_insights": True}
    spec = specified("jobs/clusters/team.yaml", metrics=said, observability={"emails": ["a@example.com"]})
    return rendered(spec)


def test_add_ons_follow_the_nodes_and_the_queues(eks: dict[str, Any]) -> None:
    (cluster,) = resources(eks, "AWS::SageMaker::Cluster")
    made = add_ons(eks)
    assert cluster in made[HYPERPOD]["DependsOn"]
    assert cluster in made[INSIGHTS]["DependsOn"]
    assert set(resources(eks, "AWS::SageMaker::ComputeQuota")) <= set(made[HYPERPOD]["DependsOn"])


def test_alerts_go_to_the_topic_of_observability(eks: dict[str, Any]) -> None:
    _, workspace = only(eks, "AWS::APS::Workspace")
    topic, _ = only(eks, "AWS::SNS::Topic")
    assert json.dumps({"Ref": topic}) in json.dumps(workspace["Properties"]["AlertManagerDefinition"])
    assert only(eks, "AWS::APS::RuleGroupsNamespace")
    assert only(eks, "AWS::Grafana::Workspace")


@pytest.mark.parametrize(("isolated", "prometheus"), [(True, True), (True, False), (False, True)])
def test_an_isolated_network_has_a_way_to_prometheus(isolated: bool, prometheus: bool) -> None:
    network = {"availability_zone_id": "usw2-az1", "isolated": isolated}
    said = specified("clusters/llm-train-eks.yaml", network=network, metrics={"prometheus": prometheus})
    endpoints = json.dumps(resources(rendered(said), "AWS::EC2::VPCEndpoint"))
    assert (".aps-workspaces" in endpoints) is (isolated and prometheus)


def test_nodes_may_hand_out_roles_for_the_add_ons() -> None:
    without = specified("clusters/llm-train-eks-existing.yaml", training_pods=None, budget=None)
    measured = without.model_copy(
        update={"metrics": specified("jobs/clusters/team.yaml", metrics={"container_insights": True}).metrics}
    )
    action = "eks-auth:AssumeRoleForPodIdentity"
    assert action not in json.dumps(rendered(without))
    assert action in json.dumps(rendered(measured))


@pytest.mark.parametrize("name", ["clusters/llm-train.yaml", "clusters/llm-train-eks.yaml"])
@pytest.mark.parametrize("said", [None, {}], ids=["null", "nothing switched on"])
def test_nothing_by_default(name: str, said: dict[str, Any] | None) -> None:
    template = rendered(specified(name, metrics=said))
    kinds = {one["Type"] for one in template["Resources"].values()}
    assert not kinds & {"AWS::APS::Workspace", "AWS::APS::RuleGroupsNamespace", "AWS::Grafana::Workspace"}
    assert not set(add_ons(template)) & {HYPERPOD, INSIGHTS}
    assert not [one for one in resources(template, FILTER) if one.startswith("RecoveryFigures")]


@pytest.fixture(scope="module")
def slurm() -> dict[str, Any]:
    return rendered(specified("clusters/llm-train.yaml", metrics={"recovery_records_folder": FOLDER}))


def test_recoveries_are_read_from_the_log_group_of_the_nodes(slurm: dict[str, Any]) -> None:
    filters = resources(slurm, FILTER)
    of_nodes = {
        json.dumps(one["Properties"]["LogGroupName"])
        for name, one in filters.items()
        if name.startswith("Observability")
    }
    of_recoveries = [one for name, one in filters.items() if name.startswith("RecoveryFigures")]
    assert len(of_recoveries) == 7
    assert {json.dumps(one["Properties"]["LogGroupName"]) for one in of_recoveries} == of_nodes


def test_recoveries_are_on_the_dashboard(slurm: dict[str, Any]) -> None:
    _, dashboard = only(slurm, "AWS::CloudWatch::Dashboard")
    body = json.dumps(dashboard["Properties"]["DashboardBody"])
    assert "Steps lost" in body
    assert "RecoveryLostStepsSeconds" in body


def test_the_controller_ships_the_folder() -> None:
    spec = specified("clusters/llm-train.yaml", metrics={"recovery_records_folder": FOLDER})
    said = json.loads(node_parameters_of(spec, file_system=None).render())
    assert said["log_shipping"] == {"records": {"group": "controller", "folder": FOLDER}}
    without = node_parameters_of(specified("clusters/llm-train.yaml"), file_system=None)
    assert "log_shipping" not in json.loads(without.render())


def test_containers_log_group_is_kept_before_anything_writes_to_it(eks: dict[str, Any]) -> None:
    kept = {
        name: one["Properties"]
        for name, one in resources(eks, KEPT).items()
        if "containerinsights" in json.dumps(one["Properties"]["LogGroupName"])
    }
    ((name, properties),) = kept.items()
    (eks_cluster,) = resources(eks, "AWS::EKS::Cluster")
    group = {"Fn::Join": ["", ["/aws/containerinsights/", {"Ref": eks_cluster}, "/application"]]}
    assert properties["LogGroupName"] == group
    (of_nodes,) = (one["Properties"] for other, one in resources(eks, KEPT).items() if other != name)
    for shared in ("RetentionInDays", "KmsKeyArn"):
        assert properties[shared] == of_nodes[shared]
    assert name in add_ons(eks)[INSIGHTS]["DependsOn"]
    assert set(resources(eks, "AWS::SageMaker::Cluster")) <= set(eks["Resources"][name]["DependsOn"])
    key = eks["Resources"][properties["KmsKeyArn"]["Fn::GetAtt"][0]]
    (admitted,) = (
        one["Condition"]["ArnLike"]["kms:EncryptionContext:aws:logs:arn"]
        for one in key["Properties"]["KeyPolicy"]["Statement"]
        if one.get("Sid") == "ContainerLogs"
    )
    (arn,) = admitted if isinstance(admitted, list) else [admitted]
    *_, before, ref, after = arn["Fn::Join"][1]
    assert before.endswith(":log-group:/aws/containerinsights/")
    assert (ref, after) == ({"Ref": eks_cluster}, "/application")


def test_on_eks_recoveries_are_read_from_what_containers_print(eks: dict[str, Any]) -> None:
    filters = [
        one["Properties"]
        for name, one in resources(eks, FILTER).items()
        if name.startswith("RecoveryFigures")
    ]
    assert len(filters) == 7
    ((kept, _),) = (
        (name, one)
        for name, one in resources(eks, KEPT).items()
        if "containerinsights" in json.dumps(one["Properties"]["LogGroupName"])
    )
    assert [one["LogGroupName"] for one in filters] == [{"Ref": kept}] * 7
    assert all(one["FilterPattern"].startswith("{ ($.log_processed.version = 1)") for one in filters)
    _, dashboard = only(eks, "AWS::CloudWatch::Dashboard")
    body = json.dumps(dashboard["Properties"]["DashboardBody"])
    assert "Steps lost" in body
    assert "RecoveryLostStepsSeconds" in body


def test_on_eks_crash_loops_are_found_in_what_containers_print(eks: dict[str, Any]) -> None:
    groups = [
        json.dumps(one["Properties"]["LogGroupName"])
        for one in resources(eks, FILTER).values()
        if "HYPERPOD_CRASH_LOOP" in one["Properties"]["FilterPattern"]
    ]
    assert len(groups) == len(set(groups)) == 2


@pytest.mark.parametrize(
    ("metrics", "observability"),
    [({"container_insights": True}, None), ({"prometheus": True}, {"emails": ["a@example.com"]})],
    ids=["no observability", "no Container Insights"],
)
def test_on_eks_no_recoveries_without_both(
    metrics: dict[str, Any], observability: dict[str, Any] | None
) -> None:
    template = rendered(specified("jobs/clusters/team.yaml", metrics=metrics, observability=observability))
    assert not [one for one in resources(template, FILTER) if one.startswith("RecoveryFigures")]
    assert "containerinsights" not in json.dumps(resources(template, KEPT))


def test_an_existing_eks_clusters_log_group_is_named_by_its_arn() -> None:
    spec = specified("clusters/llm-train-eks-existing.yaml", metrics={"container_insights": True})
    template = rendered(spec)
    assert spec.eks.cluster_arn is not None
    name = spec.eks.cluster_arn.rpartition("/")[2]
    groups = [one["Properties"]["LogGroupName"] for one in resources(template, KEPT).values()]
    assert f"/aws/containerinsights/{name}/application" in groups
