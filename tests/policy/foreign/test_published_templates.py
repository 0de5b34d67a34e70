"""AWS's own templates, as its packages ship them."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import pytest
from hyperpod_cluster_stack_template.v1_0.template import TEMPLATE_CONTENT

from hyperpod_policy.command import main
from hyperpod_policy.review_sources import review_sources
from hyperpod_policy.sources import load
from hyperpod_policy.template import Template

PACKAGE = resources.files("hyperpod_cluster_stack_template")
BOOTSTRAP = (
    Path(__file__).parents[3]
    / "node_modules"
    / "aws-cdk"
    / "lib"
    / "api"
    / "bootstrap"
    / "bootstrap-template.yaml"
)
PARTS = [
    "EKSClusterStack",
    "FsxStack",
    "HelmChartStack",
    "HyperPodClusterStack",
    "LifeCycleScriptStack",
    "PrivateSubnetStack",
    "S3BucketStack",
    "S3EndpointStack",
    "SageMakerIAMRoleStack",
    "SecurityGroupStack",
    "VPCStack",
]


def _rendered(**chosen: Any) -> str:
    """Render the template as the HyperPod CLI does: with a config whose defaults are those of the schema."""
    schema = json.loads(PACKAGE.joinpath("v1_0", "schema.json").read_text())
    config = {
        name: "" if described.get("default") is None else described["default"]
        for name, described in schema["properties"].items()
    }
    return jinja2.Template(TEMPLATE_CONTENT).render(**{**config, **chosen})


def _creation() -> str:
    return PACKAGE.joinpath("creation_template.yaml").read_text()


@pytest.mark.parametrize("content", [_rendered, _creation])
def test_what_the_cluster_stack_nests_is_said_to_be_elsewhere(tmp_path, capsys, content):
    file = tmp_path / "main.yaml"
    file.write_text(content())
    sources = load([file])
    report = review_sources(sources)
    assert report.findings == ()
    assert sorted(report.limits) == [
        f"nested stack {part} of {file}: its template is not at hand" for part in PARTS
    ]
    assert main([str(file), "--no-acknowledgements"]) == 0
    assert (
        "nothing was judged: no AWS::SageMaker::Cluster or training job is at hand" in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("chosen", "absent"),
    [
        ({}, set()),
        ({"create_vpc_stack": False}, {"VPCStack"}),
        ({"create_helm_chart_stack": False}, {"HelmChartStack", "HyperPodClusterStack"}),
        (
            {"create_helm_chart_stack": False, "create_eks_cluster_stack": False},
            {"HelmChartStack", "EKSClusterStack"},
        ),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
def test_parts_come_and_go_by_the_config(tmp_path, chosen, absent):
    file = tmp_path / "main.yaml"
    file.write_text(_rendered(**chosen))
    (document,) = load([file]).documents
    found = {part.logical_id for part in Template([document]).of_type("AWS::CloudFormation::Stack")}
    assert found == set(PARTS) - absent


def test_the_bootstrap_template_of_the_cdk_has_no_cluster_to_judge(capsys):
    report = review_sources(load([BOOTSTRAP]))
    assert report.verdicts == ()
    assert report.limits == ()
    assert main([str(BOOTSTRAP), "--no-acknowledgements"]) == 0
    assert "nothing was judged" in capsys.readouterr().out
