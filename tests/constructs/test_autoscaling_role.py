from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_kms as kms
from policy_evaluator import (
    ACCOUNT,
    REGION,
    Request,
    evaluate,
    evaluate_trust,
    resolve,
    service_request,
)
from stacks import Template, lint, only, recommended_feature_flags, template_of

from hyperpod_constructs.autoscaling_role import AutoscalingRole
from hyperpod_model.catalog.iam import CLUSTER_ROLE_GRANT_OPERATIONS
from hyperpod_model.faults import InvalidInputError

KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/volumes"


def build(*, with_key: bool, context: dict[str, Any] | None = None) -> Template:
    stack = Stack(App(context=context), "Training")
    AutoscalingRole(stack, "Role", volume_keys=[kms.Key.from_key_arn(stack, "Key", KEY)] if with_key else [])
    return template_of(stack)


@pytest.fixture(scope="module")
def template() -> Template:
    return build(with_key=True)


@pytest.fixture(scope="module")
def permissions(template: Template) -> Any:
    _, policy = only(template, "AWS::IAM::ManagedPolicy")
    return resolve(policy["Properties"]["PolicyDocument"], template)


def scaling(action: str, cluster: str, account: str = ACCOUNT) -> Request:
    return Request(action, cluster, {"aws:PrincipalAccount": ACCOUNT, "aws:ResourceAccount": account})


@pytest.mark.parametrize(
    ("service", "verdict"),
    [
        ("hyperpod.sagemaker.amazonaws.com", "allow"),
        ("sagemaker.amazonaws.com", "silent"),
        ("pods.eks.amazonaws.com", "silent"),
    ],
)
def test_trusts_hyperpod_and_nobody_else(template: Template, service: str, verdict: str) -> None:
    _, role = only(template, "AWS::IAM::Role")
    trust = role["Properties"]["AssumeRolePolicyDocument"]
    assert evaluate_trust(trust, service_request("sts:AssumeRole", "*", service)) == verdict
    assert "Policies" not in role["Properties"]
    assert "ManagedPolicyArns" not in role["Properties"]


@pytest.mark.parametrize(
    ("action", "region", "account", "verdict"),
    [
        ("sagemaker:BatchAddClusterNodes", REGION, ACCOUNT, "allow"),
        ("sagemaker:BatchDeleteClusterNodes", REGION, ACCOUNT, "allow"),
        ("sagemaker:DeleteCluster", REGION, ACCOUNT, "silent"),
        ("sagemaker:UpdateCluster", REGION, ACCOUNT, "silent"),
        ("sagemaker:BatchAddClusterNodes", "eu-west-1", ACCOUNT, "silent"),
        ("sagemaker:BatchAddClusterNodes", REGION, "999988887777", "silent"),
    ],
)
def test_scales_clusters_of_the_account(
    permissions: Any, action: str, region: str, account: str, verdict: str
) -> None:
    cluster = f"arn:aws:sagemaker:{region}:{account}:cluster/abcdefghijkl"
    assert evaluate(permissions, scaling(action, cluster, account)) == verdict


def test_the_account_is_pinned_twice(permissions: Any) -> None:
    cluster = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/abcdefghijkl"
    request = scaling("sagemaker:BatchAddClusterNodes", cluster, "999988887777")
    assert evaluate(permissions, request) == "silent"


class TestKeys:
    def granting(self, **keys: Any) -> Request:
        legal: dict[str, Any] = {
            "kms:ViaService": f"sagemaker.{REGION}.amazonaws.com",
            "kms:GrantIsForAWSResource": "true",
            "kms:GrantOperations": tuple(CLUSTER_ROLE_GRANT_OPERATIONS),
        }
        return Request("kms:CreateGrant", KEY, {**legal, **{f"kms:{name}": keys[name] for name in keys}})

    def test_grants_go_to_the_service_only(self, permissions: Any) -> None:
        assert evaluate(permissions, self.granting()) == "allow"
        assert evaluate(permissions, self.granting(GrantOperations=("Decrypt",))) == "allow"
        assert evaluate(permissions, self.granting(GrantOperations=("Decrypt", "Sign"))) == "silent"
        assert evaluate(permissions, self.granting(GrantIsForAWSResource="false")) == "silent"
        assert evaluate(permissions, self.granting(ViaService=f"ec2.{REGION}.amazonaws.com")) == "silent"

    def test_describing_needs_no_grant(self, permissions: Any) -> None:
        via = {"kms:ViaService": f"sagemaker.{REGION}.amazonaws.com"}
        assert evaluate(permissions, Request("kms:DescribeKey", KEY, via)) == "allow"
        assert evaluate(permissions, Request("kms:DescribeKey", KEY)) == "silent"
        assert (
            evaluate(permissions, Request("kms:DescribeKey", KEY.replace("volumes", "other"), via))
            == "silent"
        )
        assert evaluate(permissions, Request("kms:Decrypt", KEY, via)) == "silent"

    def test_without_keys_there_is_no_kms(self) -> None:
        assert "kms:" not in str(build(with_key=False))


def test_refuses_what_is_no_key() -> None:
    with pytest.raises(InvalidInputError, match=r"Training/Role\.volume_keys\[0\]: must be a KMS key"):
        AutoscalingRole(Stack(App(), "Training"), "Role", volume_keys=[KEY])  # type: ignore[list-item]


def test_cloudformation_accepts_it(template: Template) -> None:
    assert lint(template) == []


def test_feature_flags_change_nothing() -> None:
    assert build(with_key=True, context={}) == build(with_key=True, context=recommended_feature_flags())


def test_no_partition_is_written_out(template: Template) -> None:
    assert "arn:aws:sagemaker" not in str(template)
