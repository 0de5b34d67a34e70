"""Findings of cdk-nag on clusters with EKS that this library accepts, each with its reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from aws_cdk import CfnResource, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import IConstruct

from hyperpod_constructs.accepted_findings import (
    BASIC_EXECUTION,
    NIST,
    SHORT_LIVED_FUNCTION,
    SOLUTIONS,
    Findings,
    always,
    managed_policies,
    pinned_objects,
    together,
    wildcards,
)
from hyperpod_constructs.autoscaling_role import AutoscalingRole
from hyperpod_constructs.container_insights import ContainerInsights
from hyperpod_constructs.eks_control_plane import EksControlPlaneBase
from hyperpod_constructs.eks_operators import EksOperators
from hyperpod_constructs.job_figures_role import JobFiguresRole
from hyperpod_constructs.task_governance import TaskGovernance
from hyperpod_constructs.training_pod_role import TrainingPodRole
from hyperpod_model.catalog.add_ons import CLUSTER_POLICY
from hyperpod_model.catalog.job_figures import PUT_ACTION
from hyperpod_model.catalog.metrics import AGENT_POLICY
from hyperpod_model.catalog.task_governance import QUOTA_TYPE

_UNKNOWN_TYPE = "CloudFormation-Validate::F3006"
_VPC_ACCESS = "service-role/AWSLambdaVPCAccessExecutionRole"
_REGISTRY_READER = "AmazonEC2ContainerRegistryReadOnly"
_OPERATOR_POLICY = "AmazonSageMakerHyperPodTrainingOperatorAccess"
_BY_THE_CDK = "the CDK gives its kubectl functions"
_ASSET_READS = {"s3:GetBucket*", "s3:GetObject*", "s3:List*"}
_CHART_READS = f"{_BY_THE_CDK} reads of the CDK's asset bucket, from which the chart of a folder is installed"

_METRICS_WITHOUT_RESOURCE = (
    "cloudwatch:PutMetricData takes no resource; the statement is limited to one namespace"
)


def _pod_permissions(statement: Mapping[str, Any], wildcard: str) -> str | None:
    if statement.get("Sid") == "PublishMetrics":
        return _METRICS_WITHOUT_RESOURCE
    return pinned_objects(statement, wildcard)


def _counter_permissions(statement: Mapping[str, Any], _wildcard: str) -> str | None:
    limited = "cloudwatch:namespace" in statement.get("Condition", {}).get("StringEquals", {})
    puts_metrics = _listed(statement["Action"]) == [PUT_ACTION]
    return _METRICS_WITHOUT_RESOURCE if puts_metrics and limited else None


def _driver_permissions(statement: Mapping[str, Any], _wildcard: str) -> str | None:
    reads = statement["Action"] == ["fsx:DescribeFileSystems"]
    return (
        "the driver looks file systems up by id, which it learns from volumes; it reads only"
        if reads
        else None
    )


def _scaled_clusters(statement: Mapping[str, Any], wildcard: str) -> str | None:
    own = "aws:ResourceAccount" in statement.get("Condition", {}).get("StringEquals", {})
    return (
        "a cluster gets its id after its role, so the policy names the account's clusters; it adds and "
        "deletes nodes only"
        if own and wildcard.endswith(":cluster/*")
        else None
    )


def _invoked_versions(_statement: Mapping[str, Any], wildcard: str) -> str | None:
    own = wildcard.startswith("<") and wildcard.endswith(".Arn>:*")
    return f"{_BY_THE_CDK} the right to call any version of one function, its own" if own else None


def _kubectl_permissions(statement: Mapping[str, Any], wildcard: str) -> str | None:
    if set(_listed(statement["Action"])) == _ASSET_READS:
        of_one_bucket = wildcard.startswith("arn:") and wildcard.endswith("/*")
        return _CHART_READS if of_one_bucket or wildcard in _ASSET_READS else None
    return _invoked_versions(statement, wildcard)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _conditional_policies(role: IConstruct) -> Iterator[tuple[str, str]]:
    """Policies that exist in some partitions only, which cdk-nag writes as the condition itself."""
    assert isinstance(role, iam.CfnRole)
    policies = Stack.of(role).resolve(role.managed_policy_arns)
    for policy in policies if isinstance(policies, list) else []:
        if isinstance(policy, dict) and "Fn::If" in policy:
            written = json.dumps(policy, separators=(",", ":"))
            yield (
                f"{SOLUTIONS}IAM4[Policy::{written}]",
                f"{_BY_THE_CDK} read access to public registries, from which charts may come",
            )


def _operator_role(role: IConstruct) -> Iterator[tuple[str, str]]:
    if "TrainingOperator" in role.node.path:
        yield from managed_policies(
            {_OPERATOR_POLICY: "the policy that AWS maintains for the training operator"}
        )(role)


def _kubectl_role(role: IConstruct) -> Iterator[tuple[str, str]]:
    if "/Kubectl/" not in role.node.path:
        yield from managed_policies(
            {CLUSTER_POLICY: "the policy that EKS documents for the role of its control plane"}
        )(role)
        return
    reasons = {
        BASIC_EXECUTION: f"{_BY_THE_CDK} the managed policy for writing logs",
        _VPC_ACCESS: f"{_BY_THE_CDK} the managed policy for a function in a VPC, where the Kubernetes API is",
    }
    if "/Handler/" in role.node.path:
        reasons[_REGISTRY_READER] = f"{_BY_THE_CDK} read access to registries, from which charts come"
    yield from managed_policies(reasons)(role)
    yield from _conditional_policies(role)


def _kubectl_function(function: IConstruct) -> Iterator[tuple[str, str]]:
    for id, reason in SHORT_LIVED_FUNCTION.items():
        # The functions are in the VPC: the Kubernetes API is private.
        if not id.endswith("LambdaInsideVPC"):
            yield id, reason
    if "/Handler/" in function.node.path:
        yield (
            f"{SOLUTIONS}L1",
            "the CDK chooses the runtime of its kubectl function and updates it with each release",
        )


def _quota(resource: IConstruct) -> Iterator[tuple[str, str]]:
    if isinstance(resource, CfnResource) and resource.cfn_resource_type == QUOTA_TYPE:
        yield (
            _UNKNOWN_TYPE,
            "CloudFormation has the type, and the CDK's copy of its registry does not yet; where a region "
            "may lack it, a warning of TaskGovernance says so",
        )


EKS_OWNERS: dict[type, dict[type, Findings]] = {
    TrainingPodRole: {iam.CfnManagedPolicy: wildcards(_pod_permissions)},
    JobFiguresRole: {iam.CfnManagedPolicy: wildcards(_counter_permissions)},
    AutoscalingRole: {iam.CfnManagedPolicy: wildcards(_scaled_clusters)},
    ContainerInsights: {
        iam.CfnRole: managed_policies({AGENT_POLICY: "the policy that AWS documents for Container Insights"}),
    },
    TaskGovernance: {CfnResource: _quota},
    EksOperators: {
        iam.CfnRole: _operator_role,
        iam.CfnManagedPolicy: wildcards(_driver_permissions),
    },
    EksControlPlaneBase: {
        iam.CfnRole: _kubectl_role,
        iam.CfnPolicy: together(
            wildcards(_kubectl_permissions),
            always({f"{NIST}IAMNoInlinePolicy": f"{_BY_THE_CDK} inline policies; there is no option"}),
        ),
        lambda_.CfnFunction: _kubectl_function,
    },
}
