"""The order in which a stack with a real HyperPod cluster is created, as the documentation shows it."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import Stack
from stacks import Template, only, resources, template_of

from hyperpod_model.catalog.add_ons import AFTER_NODES, BEFORE_NODES

SNIPPET = Path(__file__).parents[2] / "docs" / "snippets" / "eks_control_plane.py"


@pytest.fixture(scope="module")
def template() -> Template:
    stack = runpy.run_path(str(SNIPPET))["stack"]
    assert isinstance(stack, Stack)
    return template_of(stack)


@pytest.fixture(scope="module")
def ranks(template: Template) -> dict[str, int]:
    """How many resources at least come before each one; a circle would never end."""
    before = {
        logical_id: _needed(resource, template) for logical_id, resource in template["Resources"].items()
    }
    found: dict[str, int] = {}

    def rank(logical_id: str, path: tuple[str, ...] = ()) -> int:
        assert logical_id not in path, f"circle: {' -> '.join((*path, logical_id))}"
        if logical_id not in found:
            deeper = [rank(other, (*path, logical_id)) + 1 for other in before[logical_id]]
            found[logical_id] = max(deeper, default=0)
        return found[logical_id]

    for logical_id in before:
        rank(logical_id)
    return found


def _needed(resource: Any, template: Template) -> set[str]:
    depends = resource.get("DependsOn", [])
    text = json.dumps(resource)
    return {
        other
        for other in template["Resources"]
        if other in depends or f'{{"Ref": "{other}"}}' in text or f'["{other}", ' in text
    }


def _named(template: Template, add_on: str) -> str:
    (logical_id,) = [
        logical_id
        for logical_id, found in resources(template, "AWS::EKS::Addon").items()
        if found["Properties"]["AddonName"] == add_on
    ]
    return logical_id


def test_nothing_waits_for_itself(ranks: dict[str, int], template: Template) -> None:
    assert set(ranks) == set(template["Resources"])


def test_first_the_control_plane_then_what_nodes_need_then_hyperpod_then_operators(
    ranks: dict[str, int], template: Template
) -> None:
    eks, _ = only(template, "AWS::EKS::Cluster")
    chart, _ = only(template, "Custom::AWSCDK-EKS-HelmChart")
    hyperpod, cluster = only(template, "AWS::SageMaker::Cluster")
    for name in BEFORE_NODES:
        logical_id = _named(template, name)
        assert ranks[eks] < ranks[logical_id] < ranks[chart] < ranks[hyperpod]
        assert logical_id in cluster["DependsOn"]
    for name in AFTER_NODES:
        logical_id = _named(template, name)
        assert ranks[hyperpod] < ranks[logical_id]
        assert hyperpod in template["Resources"][logical_id]["DependsOn"]
    assert (
        ranks[_named(template, "cert-manager")]
        < ranks[_named(template, "amazon-sagemaker-hyperpod-training-operator")]
    )


def test_hyperpod_waits_for_the_chart_the_rules_and_the_access_of_administrators(template: Template) -> None:
    _, cluster = only(template, "AWS::SageMaker::Cluster")
    kinds = {template["Resources"][other]["Type"] for other in cluster["DependsOn"]}
    assert {
        "Custom::AWSCDK-EKS-HelmChart",
        "AWS::EKS::AccessEntry",
        "AWS::EC2::SecurityGroupIngress",
        "AWS::EC2::SecurityGroupEgress",
    } <= kinds


def test_the_way_of_the_installer_is_open_before_the_chart_comes_and_until_it_is_gone(
    template: Template,
) -> None:
    _, chart = only(template, "Custom::AWSCDK-EKS-HelmChart")
    rules = {
        logical_id
        for kind in ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")
        for logical_id, rule in resources(template, kind).items()
        if rule["Properties"]["Description"] == "Kubernetes API, from kubectl"
    }
    assert len(rules) == 2
    assert rules <= set(chart["DependsOn"])


def test_no_access_entry_is_made_for_nodes(template: Template) -> None:
    _, cluster = only(template, "AWS::SageMaker::Cluster")
    node_roles = {json.dumps(group["ExecutionRole"]) for group in cluster["Properties"]["InstanceGroups"]}
    entries = resources(template, "AWS::EKS::AccessEntry").values()
    assert node_roles
    assert not node_roles & {json.dumps(entry["Properties"]["PrincipalArn"]) for entry in entries}


def test_the_cluster_is_tagged_for_the_training_operator(template: Template) -> None:
    _, cluster = only(template, "AWS::SageMaker::Cluster")
    assert {"Key": "SageMaker", "Value": "true"} in cluster["Properties"]["Tags"]
    assert cluster["Properties"]["Orchestrator"]["Eks"]["ClusterArn"] == {
        "Fn::GetAtt": [only(template, "AWS::EKS::Cluster")[0], "Arn"]
    }
