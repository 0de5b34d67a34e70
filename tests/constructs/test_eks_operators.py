"""Add-ons after nodes, for an EKS cluster of whomever."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnParameter, CfnResource, Stack
from aws_cdk import aws_iam as iam
from stacks import lint, resources, template_of

from hyperpod_constructs.eks_operators import EksOperators, check_operators
from hyperpod_model.catalog.add_ons import AFTER_NODES
from hyperpod_model.faults import InvalidInputError

ARN = "arn:aws:eks:us-west-2:111122223333:cluster/training"


def _operators(stack: Stack, **options: Any) -> EksOperators:
    given = {"cluster_name": "training", "cluster_arn": ARN, **options}
    return EksOperators(stack, "Operators", **given)


def _names(stack: Stack) -> list[str]:
    found = resources(template_of(stack), "AWS::EKS::Addon").values()
    return [resource["Properties"]["AddonName"] for resource in found]


def test_by_default_all_that_need_nodes_in_order() -> None:
    stack = Stack(App(), "Training")
    made = _operators(stack)
    assert _names(stack) == list(AFTER_NODES)
    assert lint(template_of(stack)) == []
    assert set(made.roles) == {"aws-fsx-csi-driver", "amazon-sagemaker-hyperpod-training-operator"}


def test_the_order_is_that_of_requirements_not_of_the_list() -> None:
    stack = Stack(App(), "Training")
    _operators(stack, add_ons=["amazon-sagemaker-hyperpod-training-operator", "cert-manager"])
    assert _names(stack) == ["cert-manager", "amazon-sagemaker-hyperpod-training-operator"]


def test_only_the_add_ons_wait_and_their_roles_do_not() -> None:
    stack = Stack(App(), "Training")
    cluster = CfnResource(stack, "HyperPod", type="AWS::CloudFormation::WaitConditionHandle")
    _operators(stack, after=[cluster])
    template = template_of(stack)
    for resource in resources(template, "AWS::EKS::Addon").values():
        assert "HyperPod" in resource["DependsOn"]
    for resource in resources(template, "AWS::IAM::Role").values():
        assert "DependsOn" not in resource


def test_grants_to_a_role_after_construction_count() -> None:
    stack = Stack(App(), "Training")
    _operators(stack).roles["aws-fsx-csi-driver"].add_to_policy(
        iam.PolicyStatement(actions=["fsx:CreateFileSystem"], resources=["*"])
    )
    statements = [
        statement
        for policy in resources(template_of(stack), "AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]
    assert [statement["Action"] for statement in statements] == ["fsx:CreateFileSystem"]


def test_versions_and_names_may_be_tokens() -> None:
    stack = Stack(App(), "Training")
    name = CfnParameter(stack, "Name").value_as_string
    version = CfnParameter(stack, "Version").value_as_string
    _operators(stack, cluster_name=name, add_ons=["coredns"], versions={"coredns": version})
    (resource,) = resources(template_of(stack), "AWS::EKS::Addon").values()
    assert resource["Properties"]["ClusterName"] == {"Ref": "Name"}
    assert resource["Properties"]["AddonVersion"] == {"Ref": "Version"}


def test_what_is_installed_already_counts_as_present() -> None:
    operator = ["amazon-sagemaker-hyperpod-training-operator"]
    assert check_operators(operator, installed=["cert-manager"]) == []
    (fault,) = check_operators(operator)
    assert fault.path == ("add_ons", 0)
    assert fault.message == f"'{operator[0]}' requires cert-manager; add it to the list"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"add_ons": ["kube-proxy"]},
            "add_ons[0]: must be an add-on that comes after nodes, got 'kube-proxy'",
        ),
        ({"add_ons": "coredns"}, "add_ons: must be a list, got 'coredns'; put it in brackets"),
        ({"add_ons": [3]}, "got 3; use coredns, aws-fsx-csi-driver, cert-manager, "),
        ({"versions": {"coredns": "newest"}}, "versions.coredns: must be a version such as"),
        ({"versions": {"nope": "v1"}}, "versions.nope: unknown add-on 'nope'"),
    ],
)
def test_what_cannot_work_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        _operators(Stack(App(), "Training"), **options)
    assert str(raised.value).startswith("EKS operators 'Training/Operators': ")
    assert message in str(raised.value)
