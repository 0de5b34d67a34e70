"""Whether CloudFormation has the types of the cluster's stack in the region."""

from __future__ import annotations

import pytest
from preflight_account import MADE, ON_EKS, WITH_EKS
from preflight_asked import all_ok, asked, only
from told_aws import Refusal, denied

NAME = "resource type"
TYPE = ("cloudformation", "DescribeType")
MORE = {
    **WITH_EKS,
    "observability": {"emails": ["oncall@example.com"]},
    "budget": {"limit_usd": 1000, "cost_per_hour_usd": 1},
    "metrics": {"prometheus": True, "grafana_authentication": ["AWS_SSO"]},
    "task_governance": {"teams": [{"team": "research", "instances": {"ml.p5.48xlarge": 2}}]},
}
FIELDS = {
    "AWS::SNS::Topic": "observability",
    "AWS::Budgets::Budget": "budget",
    "AWS::APS::Workspace": "metrics.prometheus",
    "AWS::Grafana::Workspace": "metrics.grafana_authentication",
    "AWS::SageMaker::ClusterSchedulerConfig": "task_governance",
    "AWS::SageMaker::ComputeQuota": "task_governance",
}


def lacking(name):
    refusal = Refusal("TypeNotFoundException", f"The type '{name}' cannot be found.", 404)
    return {TYPE: lambda asked: refusal if asked["TypeName"] == name else {"Type": "RESOURCE"}}


def test_all_are_there():
    (found,) = asked(NAME, MORE)
    all_ok([found])
    assert found.subject.split(", ") == ["AWS::SageMaker::Cluster", *FIELDS]
    assert found.message == "CloudFormation has them in us-west-2"


@pytest.mark.parametrize("base", [MADE, ON_EKS])
def test_only_what_is_made_is_asked_for(base):
    spec = {**base, "observability": None, "budget": None}
    (found,) = asked(NAME, spec, lacking("AWS::Grafana::Workspace"))
    assert (found.verdict, found.text) == (
        "ok",
        "AWS::SageMaker::Cluster: CloudFormation has it in us-west-2",
    )


@pytest.mark.parametrize(("name", "field"), FIELDS.items())
def test_a_type_that_the_region_lacks(name, field):
    found = only(
        asked(NAME, MORE, lacking(name)), "problem", f"{name}: CloudFormation has no such type in us-w"
    )
    assert found.remedy == f"leave {field} out, or choose another region"


def test_no_hyperpod_at_all():
    found = only(asked(NAME, MADE, lacking("AWS::SageMaker::Cluster")), "problem", "no such type")
    assert found.remedy == "choose another region"


def test_the_missing_permission_is_named():
    refused = {TYPE: denied("cloudformation:DescribeType")}
    (found,) = asked(NAME, MORE, refused)
    assert found.verdict == "cannot tell"
    assert found.subject.split(", ") == ["AWS::SageMaker::Cluster", *FIELDS]
    assert "permit cloudformation:DescribeType; ask for that action" in found.message
