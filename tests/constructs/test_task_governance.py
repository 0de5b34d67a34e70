"""How teams share a cluster."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Stack, assertions
from clusters import cluster, stack, template_of
from registry_schema import registry_violations
from stacks import only, resources

from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.eks_control_plane import EksControlPlane
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster, HyperPodClusterBase
from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.resilience_policy import ResiliencePolicy
from hyperpod_constructs.task_governance import (
    GOVERNANCE_WARNING,
    PLAN_NOTE,
    TaskGovernance,
    TeamQuota,
)
from hyperpod_model.faults import InvalidInputError

P5 = "ml.p5.48xlarge"
EKS_ARN = "arn:aws:eks:us-west-2:111122223333:cluster/training"
SCHEDULER, QUOTA = "AWS::SageMaker::ClusterSchedulerConfig", "AWS::SageMaker::ComputeQuota"
TEAMS = (
    TeamQuota(team="research", instances={P5: 8}, fair_share_weight=60),
    TeamQuota(team="product", instances={P5: 4}, borrow_limit_percent=200),
    TeamQuota(team="infra", instances={P5: 2}, strategy="DontLend", preempt_own_tasks="Never"),
)


def eks_cluster(scope: Stack, **props: Any) -> HyperPodCluster:
    groups = [InstanceGroup(name="workers", instance_type=P5, instance_count=16)]
    defaults = {"orchestrator": Orchestrator.eks(EKS_ARN), "instance_groups": groups}
    return cluster(scope, **{**defaults, **props})


def governed(**props: Any) -> TaskGovernance:
    where = stack()
    if "cluster" not in props:
        props["cluster"] = eks_cluster(where)
    return TaskGovernance(Stack.of(props["cluster"]), "Sharing", **{"teams": TEAMS, **props})


def rendered(made: TaskGovernance) -> dict[str, Any]:
    template: dict[str, Any] = assertions.Template.from_stack(Stack.of(made)).to_json()
    return template


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    return rendered(governed(priority_classes={"inference": 100, "training": 50}))


def test_the_registry_accepts_all_of_it(template: dict[str, Any]) -> None:
    assert registry_violations(template, region="us-east-1", kinds=(SCHEDULER, QUOTA)) == []


def test_scheduler(template: dict[str, Any]) -> None:
    _, scheduler = only(template, SCHEDULER)
    assert scheduler["Properties"]["Name"] == "llm-train-policy"
    assert scheduler["Properties"]["SchedulerConfig"] == {
        "FairShare": "Enabled",
        "IdleResourceSharing": "Enabled",
        "PriorityClasses": [{"Name": "inference", "Weight": 100}, {"Name": "training", "Weight": 50}],
    }


def test_quotas_say_every_default_and_nothing_that_the_service_fills_in(template: dict[str, Any]) -> None:
    quotas = {
        quota["Properties"]["Name"]: quota["Properties"] for quota in resources(template, QUOTA).values()
    }
    assert quotas["research"]["ComputeQuotaTarget"] == {"TeamName": "research", "FairShareWeight": 60}
    assert quotas["research"]["ComputeQuotaConfig"] == {
        "ComputeQuotaResources": [{"InstanceType": P5, "Count": 8}],
        "ResourceSharingConfig": {"Strategy": "LendAndBorrow", "BorrowLimit": 50},
        "PreemptTeamTasks": "LowerPriority",
    }
    assert quotas["product"]["ComputeQuotaConfig"]["ResourceSharingConfig"]["BorrowLimit"] == 200
    assert quotas["infra"]["ComputeQuotaConfig"] == {
        "ComputeQuotaResources": [{"InstanceType": P5, "Count": 2}],
        "ResourceSharingConfig": {"Strategy": "DontLend"},
        "PreemptTeamTasks": "Never",
    }


def test_quotas_come_after_the_policy_and_the_policy_after_the_cluster(template: dict[str, Any]) -> None:
    scheduler, resource = only(template, SCHEDULER)
    (cluster_id,) = resources(template, "AWS::SageMaker::Cluster")
    assert cluster_id in resource["DependsOn"]
    assert all(scheduler in quota["DependsOn"] for quota in resources(template, QUOTA).values())


def test_add_on_comes_between_the_nodes_and_the_policy() -> None:
    where = stack()
    control_plane = EksControlPlane.from_existing(
        where, "Eks", cluster_arn=EKS_ARN, dependency_chart=DependencyChart.installed()
    )
    made = eks_cluster(where, orchestrator=Orchestrator.eks(control_plane))
    template = rendered(
        TaskGovernance(where, "Sharing", cluster=made, control_plane=control_plane, teams=TEAMS)
    )
    add_on_id, add_on = only(template, "AWS::EKS::Addon")
    assert add_on["Properties"]["AddonName"] == "amazon-sagemaker-hyperpod-taskgovernance"
    (cluster_id,) = resources(template, "AWS::SageMaker::Cluster")
    assert cluster_id in add_on["DependsOn"]
    assert add_on_id in only(template, SCHEDULER)[1]["DependsOn"]


def test_without_a_control_plane_the_add_on_is_there_already(template: dict[str, Any]) -> None:
    assert resources(template, "AWS::EKS::Addon") == {}


class TestPlan:
    def test_is_a_note_at_synthesis(self) -> None:
        made = governed()
        (note,) = assertions.Annotations.from_stack(Stack.of(made)).find_info(
            f"/{made.node.path}", assertions.Match.any_value()
        )
        assert PLAN_NOTE in str(note.entry.data)
        assert made.plan is not None
        assert made.plan in str(note.entry.data)

    def test_says_who_borrows_and_gives_way(self) -> None:
        plan = governed().plan
        assert plan is not None
        rows = {line.split()[0]: line for line in plan.splitlines()}
        assert "up to 4" in rows["research"]
        assert "up to 8" in rows["product"]
        assert "nothing" in rows["infra"]
        assert "2 of 16 ml.p5.48xlarge are promised to nobody and may be borrowed" in plan

    def test_none_where_numbers_are_known_at_deployment_only(self) -> None:
        where = stack()
        count = CfnParameter(where, "Count", type="Number").value_as_number
        groups = [InstanceGroup(name="workers", instance_type=P5, instance_count=count)]
        assert governed(cluster=eks_cluster(where, instance_groups=groups)).plan is None


@pytest.mark.parametrize(
    ("props", "message"),
    [
        (
            {"teams": [*TEAMS, TeamQuota(team="late", instances={P5: 3})]},
            r"quotas promise 17 instances of ml.p5.48xlarge, and the cluster has 16 \(research 8, product 4, "
            r"infra 2, late 3\)",
        ),
        ({"teams": []}, "teams: is empty; give a quota"),
        (
            {"teams": [TeamQuota(team="a", instances={P5: 1}), TeamQuota(team="a", instances={P5: 1})]},
            r"teams\[1\].team: 'a' has a quota already, at 0",
        ),
        (
            {"teams": [TeamQuota(team="Research", instances={P5: 1})]},
            r"teams\[0\].team: must be 1 to 40 lower-case letters, digits and hyphens inside, got 'Research'",
        ),
        (
            {"teams": [TeamQuota(team="a", instances={"ml.g5.xlarge": 1})]},
            r"the cluster has no such instances.*its instance types are 'ml.p5.48xlarge'",
        ),
        ({"teams": [TeamQuota(team="a", instances={})]}, "instances: is empty"),
        (
            {"teams": [TeamQuota(team="a", instances={P5: -1})]},
            "must be a whole number of instances from 0, got -1",
        ),
        (
            {"teams": [TeamQuota(team="a", instances={P5: 1}, fair_share_weight=101)]},
            "fair_share_weight: must be a whole number from 0 to 100, got 101",
        ),
        (
            {"teams": [TeamQuota(team="a", instances={P5: 1}, borrow_limit_percent=501)]},
            "borrow_limit_percent: must be a whole number from 1 to 500, got 501",
        ),
        (
            {"teams": [TeamQuota(team="a", instances={P5: 1}, strategy="Lend", borrow_limit_percent=50)]},
            "borrow_limit_percent: needs strategy 'LendAndBorrow', got 'Lend'",
        ),
        (
            {"teams": [TeamQuota(team="a", instances={P5: 1}, strategy="Borrow")]},  # type: ignore[arg-type]
            "strategy: must be one of 'DontLend', 'Lend', 'LendAndBorrow', got 'Borrow'",
        ),
        (
            {"priority_classes": {f"class-{n}": n for n in range(11)}},
            "priority_classes: must be 10 or fewer, got 11",
        ),
        ({"priority_classes": {"Fast": 1}}, "its name must be 1 to 40 lower-case letters"),
        (
            {"priority_classes": {"fast": 101}},
            "priority_classes.fast: must be a whole number from 0 to 100, got 101",
        ),
    ],
)
def test_refuses(props: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        governed(**props)


def test_refuses_a_cluster_with_slurm() -> None:
    with pytest.raises(InvalidInputError, match="cluster: must be one with EKS"):
        governed(cluster=cluster(stack()), teams=[TeamQuota(team="a", instances={P5: 1})])


def test_quotas_that_promise_spare_nodes_are_warned_of() -> None:
    made = governed(teams=[TeamQuota(team="a", instances={P5: 16})])
    found = assertions.Annotations.from_stack(Stack.of(made)).find_warning(
        f"/{made.node.path}", assertions.Match.any_value()
    )
    assert any(
        GOVERNANCE_WARNING in str(one.entry.data) and "of which 1 are spare nodes" in str(one.entry.data)
        for one in found
    )


def test_a_weight_without_fair_share_is_warned_of() -> None:
    made = governed(fair_share=False)
    found = assertions.Annotations.from_stack(Stack.of(made)).find_warning(
        f"/{made.node.path}", assertions.Match.string_like_regexp("counts only where fair_share is on")
    )
    assert len(found) == 1


def elsewhere(region: str | None) -> Stack:
    return Stack(App(), "Stack", env=None if region is None else Environment(region=region))


def test_sound_quotas_warn_of_nothing() -> None:
    made = governed(
        cluster=eks_cluster(elsewhere("us-east-1"), resilience=ResiliencePolicy(spare_nodes=2)),
    )
    found = assertions.Annotations.from_stack(Stack.of(made)).find_warning(
        f"/{made.node.path}", assertions.Match.any_value()
    )
    assert found == []


@pytest.mark.parametrize(
    ("region", "kinds"),
    [
        ("us-west-2", [SCHEDULER]),
        ("us-west-1", [QUOTA]),
        ("ap-northeast-2", [SCHEDULER, QUOTA]),
        ("us-east-1", []),
        (None, []),
    ],
)
def test_a_region_that_may_lack_the_types_is_warned_of(region: str | None, kinds: list[str]) -> None:
    made = governed(cluster=eks_cluster(elsewhere(region)))
    found = assertions.Annotations.from_stack(Stack.of(made)).find_warning(
        f"/{made.node.path}", assertions.Match.string_like_regexp("may not have the resource type")
    )
    said = [str(one.entry.data) for one in found]
    assert len(said) == len(kinds)
    for kind in kinds:
        words = f"aws cloudformation describe-type --type RESOURCE --type-name {kind} --region {region}"
        assert any(words in text for text in said)


def test_tokens_pass() -> None:
    where = stack()
    number = CfnParameter(where, "Instances", type="Number").value_as_number
    weight = CfnParameter(where, "Weight", type="Number").value_as_number
    made = governed(
        cluster=eks_cluster(where),
        teams=[TeamQuota(team="a", instances={P5: number}, fair_share_weight=weight)],
        priority_classes={"fast": weight},
    )
    assert made.plan is None
    _, quota = only(rendered(made), QUOTA)
    assert quota["Properties"]["ComputeQuotaConfig"]["ComputeQuotaResources"][0]["Count"] == {
        "Ref": "Instances"
    }


def test_an_imported_cluster_has_no_capacity_to_check_against() -> None:
    def imported(where: Stack) -> HyperPodClusterBase:
        return HyperPodCluster.from_cluster_attributes(
            where,
            "Imported",
            cluster_arn="arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl",
            cluster_name="theirs",
        )

    where, other = stack(), stack()
    made = TaskGovernance(where, "Sharing", cluster=imported(where), teams=TEAMS)
    assert made.plan is None
    checked = TaskGovernance(other, "Checked", cluster=imported(other), teams=TEAMS, capacity={P5: 16})
    assert checked.plan is not None
    third = stack()
    theirs = imported(third)
    with pytest.raises(
        InvalidInputError, match=r"quotas promise 14 instances of ml\.p5\.48xlarge, and .* has 8"
    ):
        TaskGovernance(third, "TooMany", cluster=theirs, teams=TEAMS, capacity={P5: 8})


def test_template_of_other_clusters_is_as_before() -> None:
    assert resources(template_of(eks_cluster(stack())), QUOTA) == {}
