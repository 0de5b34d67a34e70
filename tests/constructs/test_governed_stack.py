"""Teams and a budget in a whole stack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App, assertions
from stacks import only, resources

from hyperpod_constructs import HyperPodStack
from hyperpod_model.catalog.budgets import COSTLY_TYPES
from hyperpod_model.cluster_spec import ClusterSpec
from hyperpod_policy import review

EXAMPLES = Path(__file__).parents[2] / "examples"
IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/job-figures:1.0.0"
BUDGET, ALARM = "AWS::Budgets::Budget", "AWS::CloudWatch::Alarm"
TAG = {"Key": "hyperpod-cluster", "Value": "jobs-team"}


def made(name: str, **changes: Any) -> HyperPodStack:
    said = yaml.safe_load((EXAMPLES / name).read_text("utf-8"))
    return HyperPodStack(App(), "HyperPodStack", spec=ClusterSpec.model_validate(said | changes))


@pytest.fixture(scope="module")
def shared() -> HyperPodStack:
    budget = {"limit_usd": 500_000, "cost_per_hour_usd": 700}
    readers = {"emails": ["oncall@example.com"]}
    figures = {"job_figures_image": IMAGE}
    return made("jobs/clusters/team.yaml", budget=budget, observability=readers, metrics=figures)


@pytest.fixture(scope="module")
def template(shared: HyperPodStack) -> dict[str, Any]:
    found: dict[str, Any] = assertions.Template.from_stack(shared).to_json()
    return found


def test_the_plan_is_told_at_synthesis(shared: HyperPodStack) -> None:
    (note,) = assertions.Annotations.from_stack(shared).find_info(
        "/HyperPodStack/TaskGovernance", assertions.Match.string_like_regexp("who shares what")
    )
    assert "1 of 12 ml.p5.48xlarge are promised to nobody" in str(note.entry.data)


def test_add_on_policy_and_quotas_follow_the_cluster(template: dict[str, Any]) -> None:
    (cluster,) = resources(template, "AWS::SageMaker::Cluster")
    scheduler, _ = only(template, "AWS::SageMaker::ClusterSchedulerConfig")
    quotas = resources(template, "AWS::SageMaker::ComputeQuota")
    assert {quota["Properties"]["Name"] for quota in quotas.values()} == {"research", "product"}
    assert all(scheduler in quota["DependsOn"] for quota in quotas.values())
    (add_on,) = (
        one
        for one in resources(template, "AWS::EKS::Addon").values()
        if one["Properties"]["AddonName"] == "amazon-sagemaker-hyperpod-taskgovernance"
    )
    assert cluster in add_on["DependsOn"]


def test_the_budget_tells_the_topic_of_the_cluster(template: dict[str, Any]) -> None:
    topic, _ = only(template, "AWS::SNS::Topic")
    _, budget = only(template, BUDGET)
    subscribers = [
        subscriber
        for alert in budget["Properties"]["NotificationsWithSubscribers"]
        for subscriber in alert["Subscribers"]
    ]
    assert subscribers == [{"SubscriptionType": "SNS", "Address": {"Ref": topic}}] * 4
    assert budget["Properties"]["Budget"]["CostFilters"] == {
        "TagKeyValue": ["user:hyperpod-cluster$jobs-team"]
    }
    assert "Budget" not in {finding.rule_id for finding in review(template, region="us-west-2").findings}


def test_what_costs_has_the_tag_and_nothing_else(template: dict[str, Any]) -> None:
    tagged = {
        resource["Type"]
        for resource in template["Resources"].values()
        if TAG in [one for one in resource["Properties"].get("Tags", []) if isinstance(one, dict)]
    }
    eks = next(
        resource
        for resource in template["Resources"].values()
        if resource["Type"] in ("AWS::EKS::Cluster", "Custom::AWSCDK-EKS-Cluster")
    )
    assert tagged <= set(COSTLY_TYPES)
    assert {"AWS::SageMaker::Cluster", "AWS::S3::Bucket", "AWS::FSx::FileSystem"} <= tagged
    assert "hyperpod-cluster" in json.dumps(eks["Properties"]["Tags"])


def test_a_cron_job_counts_jobs_with_a_role_for_that_alone(template: dict[str, Any]) -> None:
    (manifest,) = (
        resource["Properties"]["Manifest"]
        for name, resource in resources(template, "Custom::AWSCDK-EKS-KubernetesResource").items()
        if name.startswith("JobFigures")
    )
    text = json.dumps(manifest)
    assert IMAGE in text
    assert "*/10 * * * *" in text
    (association,) = (
        one["Properties"]
        for one in resources(template, "AWS::EKS::PodIdentityAssociation").values()
        if one["Properties"]["ServiceAccount"] == "hyperpod-job-figures"
    )
    assert association["Namespace"] == "kube-system"
    role = association["RoleArn"]["Fn::GetAtt"][0]
    (policy,) = (
        one["Properties"]
        for one in resources(template, "AWS::IAM::ManagedPolicy").values()
        if one["Properties"].get("Roles") == [{"Ref": role}]
    )
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert statement["Action"] == "cloudwatch:PutMetricData"
    assert statement["Condition"] == {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/Clusters"}}


def test_without_budget_and_teams_nothing_of_it_is_made() -> None:
    stack = made("jobs/clusters/team.yaml", task_governance=None, budget=None, metrics=None)
    template = assertions.Template.from_stack(stack).to_json()
    kinds = {resource["Type"] for resource in template["Resources"].values()}
    assert not kinds & {BUDGET, "AWS::SageMaker::ComputeQuota", "AWS::SageMaker::ClusterSchedulerConfig"}
    assert "hyperpod-cluster" not in json.dumps(template)
    assert (stack.budget_guard, stack.task_governance, stack.job_figures) == (None, None, None)


def names_of_alarms(template: dict[str, Any]) -> set[str]:
    return {one["Properties"]["AlarmName"] for one in resources(template, ALARM).values()}


def test_alarms_on_jobs_tell_the_topic_of_the_cluster(template: dict[str, Any]) -> None:
    topic, _ = only(template, "AWS::SNS::Topic")
    alarms = {
        one["Properties"]["AlarmName"].removeprefix("hyperpod-jobs-team-"): one["Properties"]
        for one in resources(template, ALARM).values()
    }
    for name in ("wait-time", "preemptions", "idle-fleet"):
        assert alarms[name]["AlarmActions"] == [{"Ref": topic}]
    assert "AlarmActions" not in {
        finding.rule_id for finding in review(template, region="us-west-2").findings
    }


def test_figures_of_teams_and_all_alarms_are_on_the_dashboard(template: dict[str, Any]) -> None:
    _, dashboard = only(template, "AWS::CloudWatch::Dashboard")
    body = json.dumps(dashboard["Properties"]["DashboardBody"])
    for words in ("Pending jobs", "hyperpod-ns-research", "hyperpod-ns-product", "LongestRun"):
        assert words in body
    for alarm in ("JobFiguresWaitAlarm", "JobFiguresPreemptionAlarm", "BudgetGuardIdleAlarm"):
        assert alarm in body


def test_on_by_default_are_the_alarm_on_an_idle_fleet_and_graphs_of_all_queues() -> None:
    stack = made("clusters/scripted-slurm.yaml")
    template = assertions.Template.from_stack(stack).to_json()
    assert resources(template, BUDGET) == {}
    assert "hyperpod-cluster" not in json.dumps(template)
    found = {name.removeprefix("hyperpod-pretrain-scripted-") for name in names_of_alarms(template)}
    assert "idle-fleet" in found
    assert not found & {"wait-time", "preemptions"}
    _, dashboard = only(template, "AWS::CloudWatch::Dashboard")
    assert "SEARCH(" in json.dumps(dashboard["Properties"]["DashboardBody"])
    assert "Budget" in {finding.rule_id for finding in review(template, region="us-west-2").findings}


@pytest.mark.parametrize(
    ("changes", "alarm", "graphs"),
    [
        ({"budget": None}, False, True),
        ({"budget": {"limit_usd": 1, "idle_hours": None}}, False, True),
        ({"metrics": None}, False, False),
        ({"metrics": {"job_figures": False}}, False, False),
        ({"observability": {"dashboard": False}}, True, False),
    ],
)
def test_switches(changes: dict[str, Any], alarm: bool, graphs: bool) -> None:
    template = assertions.Template.from_stack(made("clusters/scripted-slurm.yaml", **changes)).to_json()
    assert ("hyperpod-pretrain-scripted-idle-fleet" in names_of_alarms(template)) is alarm
    assert ("PendingJobs" in json.dumps(template)) is graphs


@pytest.mark.parametrize("activated", [False, True])
def test_the_tag_is_reminded_of_until_it_is_activated(activated: bool) -> None:
    stack = made(
        "clusters/scripted-slurm.yaml", budget={"limit_usd": 5, "cost_allocation_tag_activated": activated}
    )
    infos = assertions.Annotations.from_stack(stack).find_info(
        "*", assertions.Match.string_like_regexp("Cost allocation tags")
    )
    assert bool(infos) is not activated


def test_no_alarm_is_made_that_nobody_puts_data_for() -> None:
    for name in ("jobs/clusters/team.yaml", "clusters/own-lifecycle-scripts.yaml"):
        stack = made(name, metrics={})
        template = assertions.Template.from_stack(stack).to_json()
        assert not {one for one in names_of_alarms(template) if one.endswith(("idle-fleet", "wait-time"))}
        assert stack.budget_guard is None
        # They wait for whoever counts.
        assert "PendingJobs" in json.dumps(template)


def test_an_existing_eks_cluster_gets_alarms_and_no_manifest() -> None:
    stack = made("clusters/llm-train-eks-existing.yaml", metrics={"job_figures_image": IMAGE})
    template = assertions.Template.from_stack(stack).to_json()
    assert "hyperpod-finetune-eks-idle-fleet" in names_of_alarms(template)
    assert IMAGE not in json.dumps(template)


def test_a_tag_of_the_user_s_own_is_counted_and_not_set_again() -> None:
    stack = made(
        "clusters/llm-train.yaml",
        tags={"cost:center": "research"},
        budget={"limit_usd": 1, "cost_allocation_tag": "cost:center", "idle_hours": None},
        observability=None,
    )
    template = assertions.Template.from_stack(stack).to_json()
    _, budget = only(template, BUDGET)
    assert budget["Properties"]["Budget"]["CostFilters"] == {"TagKeyValue": ["user:cost:center$research"]}
    assert resources(template, ALARM) == {}
    # Without the cluster's topic the budget has one of its own.
    topic, _ = only(template, "AWS::SNS::Topic")
    assert topic.startswith("BudgetGuardTopic")
