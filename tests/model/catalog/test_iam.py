from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from hyperpod_model.catalog import iam


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    """The Service Authorization Reference as cfn-lint ships it; action names are in lower case there."""
    cfnlint = pytest.importorskip("cfnlint")
    path = Path(cfnlint.__file__).parent / "data" / "AdditionalSpecs" / "Policies.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def s3_actions(reference: dict[str, Any], resource_type: str) -> set[str]:
    return {
        f"s3:{name}"
        for name, action in reference["s3"]["Actions"].items()
        if resource_type in action.get("Resources", ())
    }


def lower(actions: tuple[str, ...]) -> set[str]:
    return {f"s3:{action.removeprefix('s3:').lower()}" for action in actions}


def matching(patterns: tuple[str, ...], actions: set[str]) -> set[str]:
    return {action for action in actions if any(fnmatchcase(action, pattern.lower()) for pattern in patterns)}


ALL_ACTIONS = (
    *iam.SLURM_VPC_ACTIONS,
    *iam.EKS_ACTIONS,
    *iam.ECR_ACTIONS,
    *iam.EKS_AUTH_ACTIONS,
    *iam.FILE_SYSTEM_READ_ACTIONS,
)


@pytest.mark.parametrize("action", sorted(set(ALL_ACTIONS)), ids=lambda action: action.name)
def test_resource_types_are_those_of_the_reference(reference: dict[str, Any], action: iam.ServiceAction):
    service, name = action.name.split(":")
    listed = reference[service]["Actions"][name.lower()].get("Resources", [])
    assert sorted(action.resource_types) == sorted(listed)


def test_tags_are_put_on_network_interfaces_only(reference: dict[str, Any]):
    assert iam.CREATE_TAGS_ACTION == ("ec2:CreateTags", ("network-interface",))
    assert "network-interface" in reference["ec2"]["Actions"]["createtags"]["Resources"]


def test_every_action_on_objects_is_either_a_write_or_a_read(reference: dict[str, Any]):
    writes, reads = lower(iam.S3_OBJECT_WRITE_ACTIONS), lower(iam.S3_OBJECT_READ_ACTIONS)
    assert writes | reads == s3_actions(reference, "object")
    assert not writes & reads
    assert all(action.removeprefix("s3:").startswith(("get", "list")) for action in reads)
    assert not any(action.removeprefix("s3:").startswith(("get", "list")) for action in writes)


def test_every_change_of_a_bucket_is_listed(reference: dict[str, Any]):
    on_buckets = s3_actions(reference, "bucket")
    not_a_change = {
        action for action in on_buckets if action.removeprefix("s3:").startswith(("get", "list"))
    } | {"s3:createbucket", "s3:allowvendedlogdeliveryforresource"}
    assert lower(iam.S3_BUCKET_CONFIGURATION_ACTIONS) == on_buckets - not_a_change


@pytest.mark.parametrize(
    ("patterns", "actions", "resource_type"),
    [
        (iam.S3_OBJECT_WRITE_PATTERNS, iam.S3_OBJECT_WRITE_ACTIONS, "object"),
        (iam.S3_OBJECT_READ_PATTERNS, iam.S3_OBJECT_READ_ACTIONS, "object"),
        (iam.S3_BUCKET_CONFIGURATION_PATTERNS, iam.S3_BUCKET_CONFIGURATION_ACTIONS, "bucket"),
    ],
)
def test_patterns_match_exactly_the_listed_actions(
    reference: dict[str, Any], patterns: tuple[str, ...], actions: tuple[str, ...], resource_type: str
):
    assert matching(patterns, s3_actions(reference, resource_type)) == lower(actions)
    assert len(patterns) < len(actions)


def test_object_patterns_never_match_actions_on_buckets(reference: dict[str, Any]):
    buckets = s3_actions(reference, "bucket")
    assert not matching(iam.S3_OBJECT_WRITE_PATTERNS + iam.S3_OBJECT_READ_PATTERNS, buckets)


@pytest.mark.parametrize(
    "action",
    [
        "s3:AbortMultipartUpload",
        "s3:BypassGovernanceRetention",
        "s3:DeleteObjectVersion",
        "s3:PutObject",
        "s3:PutObjectAcl",
        "s3:ReplicateObject",
        "s3:RestoreObject",
    ],
)
def test_writes_that_must_not_be_missed(action: str):
    assert action in iam.S3_OBJECT_WRITE_ACTIONS


@pytest.mark.parametrize(
    "action",
    [
        "s3:DeleteBucket",
        "s3:DeleteBucketPolicy",
        "s3:PutBucketAcl",
        "s3:PutBucketOwnershipControls",
        "s3:PutBucketPolicy",
        "s3:PutBucketPublicAccessBlock",
        "s3:PutBucketVersioning",
        "s3:PutEncryptionConfiguration",
        "s3:PutLifecycleConfiguration",
        "s3:PutReplicationConfiguration",
    ],
)
def test_configurations_that_must_not_be_missed(action: str):
    assert action in iam.S3_BUCKET_CONFIGURATION_ACTIONS


def test_slurm_actions_split_by_what_they_may_be_scoped_to():
    assert iam.unscoped(iam.SLURM_VPC_ACTIONS) == (
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeVpcs",
        "ec2:DescribeDhcpOptions",
        "ec2:DescribeSubnets",
        "ec2:DescribeSecurityGroups",
    )
    assert iam.scoped(iam.SLURM_VPC_ACTIONS, "subnet", "security-group", "network-interface") == (
        "ec2:CreateNetworkInterface",
    )
    assert iam.scoped(iam.SLURM_VPC_ACTIONS, "network-interface") == (
        "ec2:CreateNetworkInterfacePermission",
        "ec2:DeleteNetworkInterface",
        "ec2:DeleteNetworkInterfacePermission",
    )
    assert iam.scoped(iam.SLURM_VPC_ACTIONS, "instance", "network-interface") == (
        "ec2:DetachNetworkInterface",
    )
    assert iam.scoped(iam.SLURM_VPC_ACTIONS) == ()


def test_eks_nodes_need_all_that_slurm_nodes_need():
    assert set(iam.SLURM_VPC_ACTIONS) < set(iam.EKS_ACTIONS)


def test_the_managed_policy_reads_only_buckets_with_the_prefix():
    statement = next(found for found in iam.CLUSTER_INSTANCE_STATEMENTS if "s3:GetObject" in found["Action"])
    assert statement["Resource"] == "arn:aws:s3:::sagemaker-*"


def test_tiered_checkpointing_needs_no_more_than_documented():
    assert set(iam.TIERED_CHECKPOINTING_ACTIONS) == {
        "s3:DeleteObject",
        "s3:GetBucketLocation",
        "s3:GetObject",
        "s3:ListBucket",
        "s3:PutObject",
    }


def test_key_conditions_take_tokens():
    assert iam.ebs_key_via_service("us-west-2", "amazonaws.com") == "sagemaker.us-west-2.amazonaws.com"
    assert iam.ebs_key_via_service("${Token[R]}", "${Token[S]}") == "sagemaker.${Token[R]}.${Token[S]}"
    assert iam.bucket_key_via_service("us-west-2") == "s3.us-west-2.*"
