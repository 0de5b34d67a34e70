"""The stack of a cluster within another team's app: Stage, synthesizer, boundary, tags, removal policies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import (
    App,
    DefaultStackSynthesizer,
    Environment,
    PermissionsBoundary,
    RemovalPolicies,
    Stage,
    Tags,
)
from stacks import resources

from hyperpod_constructs import HyperPodStack
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster
from hyperpod_policy import review

CLUSTERS = Path(__file__).parents[2] / "examples" / "clusters"
ENV = Environment(account="111122223333", region="us-west-2")
USUAL = ["llm-train.yaml", "llm-train-eks.yaml"]


def spec_of(name: str, **changes: Any) -> ClusterSpec:
    said = load_cluster(CLUSTERS / name).spec
    return ClusterSpec.model_validate({**said.model_dump(exclude_unset=True), **changes})


def template_in(stage: Stage, stack: HyperPodStack) -> dict[str, Any]:
    template: dict[str, Any] = stage.synth().get_stack_artifact(stack.artifact_id).template
    return template


@pytest.mark.parametrize("name", USUAL)
def test_every_role_gets_the_boundary_of_the_stage(name: str) -> None:
    stage = Stage(
        App(),
        "Prod",
        env=ENV,
        permissions_boundary=PermissionsBoundary.from_name("team-boundary"),
    )
    template = template_in(stage, HyperPodStack(stage, "HyperPodStack", spec=spec_of(name)))
    roles = resources(template, "AWS::IAM::Role")
    assert roles
    for logical_id, role in roles.items():
        assert "team-boundary" in json.dumps(role["Properties"]["PermissionsBoundary"]), logical_id


@pytest.mark.parametrize("name", USUAL)
def test_the_role_of_a_synthesizer_of_their_own_may_change_the_buckets(name: str) -> None:
    stage = Stage(App(), "Prod", env=ENV)
    synthesizer = DefaultStackSynthesizer(qualifier="platform")
    stack = HyperPodStack(stage, "HyperPodStack", spec=spec_of(name), synthesizer=synthesizer)
    template = template_in(stage, stack)
    policies = resources(template, "AWS::S3::BucketPolicy")
    assert policies
    for logical_id, policy in policies.items():
        (denial,) = (
            statement
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]
            if statement.get("Sid") == "DenyConfigurationExceptAdministrators"
        )
        assert "cdk-platform-cfn-exec-role" in json.dumps(denial["Condition"]), logical_id


@pytest.mark.parametrize("name", USUAL)
def test_tags_of_the_app_reach_what_costs_money(name: str) -> None:
    app = App()
    stack = HyperPodStack(app, "HyperPodStack", spec=spec_of(name))
    Tags.of(app).add("cost-center", "42")
    template = template_in(app, stack)
    tag = {"Key": "cost-center", "Value": "42"}
    kinds = ["AWS::SageMaker::Cluster", "AWS::FSx::FileSystem", "AWS::S3::Bucket", "AWS::EC2::NatGateway"]
    for kind in kinds:
        for logical_id, resource in resources(template, kind).items():
            assert tag in resource["Properties"]["Tags"], logical_id


@pytest.mark.parametrize("name", USUAL)
def test_a_removal_policy_over_everything_is_found(name: str) -> None:
    app = App()
    stack = HyperPodStack(app, "HyperPodStack", spec=spec_of(name))
    RemovalPolicies.of(stack).destroy()
    template = template_in(app, stack)
    assert all(one["DeletionPolicy"] == "Delete" for one in resources(template, "AWS::S3::Bucket").values())
    report = review(template, region="us-west-2")
    assert "BucketRetention" in {finding.rule_id for finding in report.failures}
    untouched = App()
    other = HyperPodStack(untouched, "HyperPodStack", spec=spec_of(name))
    failures = review(template_in(untouched, other), region="us-west-2").failures
    assert [finding.text() for finding in failures] == []


def test_two_clusters_share_an_eks_cluster_and_an_app() -> None:
    app = App()
    first = HyperPodStack(app, "First", spec=spec_of("llm-train-eks.yaml"))
    second = HyperPodStack(app, "Second", spec=load_cluster(CLUSTERS / "llm-train-eks-existing.yaml").spec)
    assembly = app.synth()
    names = {assembly.get_stack_artifact(stack.artifact_id).stack_name for stack in (first, second)}
    assert names == {"hyperpod-llm-train-eks", "hyperpod-finetune-eks"}


def test_an_orchestrator_never_replaces_the_other() -> None:
    slurm, eks = (HyperPodStack(App(), "HyperPodStack", spec=spec_of(name)) for name in USUAL)
    assert slurm.stack_name != eks.stack_name


@pytest.mark.parametrize("name", USUAL)
def test_no_partition_is_written_out(name: str) -> None:
    app = App()
    template = template_in(app, HyperPodStack(app, "HyperPodStack", spec=spec_of(name)))
    assert '"arn:aws:' not in json.dumps(template)
