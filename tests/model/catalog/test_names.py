from __future__ import annotations

import pytest

from hyperpod_model.catalog import names
from hyperpod_model.catalog.names import NameRule


@pytest.mark.parametrize(
    ("rule", "shape"),
    [
        (names.CLUSTER, "ClusterName"),
        (names.INSTANCE_GROUP, "ClusterInstanceGroupName"),
        (names.PARTITION, "ClusterPartitionName"),
        (names.LIFECYCLE_SCRIPT, "ClusterLifeCycleConfigFileName"),
        (names.SOURCE_S3_URI, "S3Uri"),
        (names.ROLE_ARN, "RoleArn"),
        (names.TRAINING_PLAN_ARN, "TrainingPlanArn"),
        (names.KMS_KEY_ID, "KmsKeyId"),
        (names.IMAGE_ID, "ImageId"),
        (names.LUSTRE_DNS_NAME, "ClusterDnsName"),
        (names.LUSTRE_MOUNT_NAME, "ClusterMountName"),
        (names.MOUNT_PATH, "ClusterFsxMountPath"),
    ],
)
def test_a_rule_is_that_of_the_api(rule: NameRule, shape: str):
    session = pytest.importorskip("botocore.session").get_session()
    found = session.get_service_model("sagemaker").shape_for(shape).metadata
    assert (rule.pattern, rule.min_length, rule.max_length) == (found["pattern"], found["min"], found["max"])


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (names.CLUSTER, "llm-train"),
        (names.CLUSTER, "a--b"),
        (names.CLUSTER, "a" * 63),
        (names.CLUSTER_ID, "abcdefgh1234"),
        (names.CLUSTER_ARN, "arn:aws-us-gov:sagemaker:us-gov-west-1:111122223333:cluster/abcdefgh1234"),
        (names.SECURITY_GROUP_ID, "sg-0123456789abcdef0"),
        (names.SECURITY_GROUP_ID, "sg-01234567"),
        (names.SUBNET_ID, "subnet-0123456789abcdef0"),
        (names.VPC_ID, "vpc-0123456789abcdef0"),
        (names.KMS_KEY_ARN, "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"),
        (names.KMS_KEY_ARN, "arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/mrk-1234abcd12ab34cd56ef"),
        (names.REGION, "ap-southeast-4"),
        (names.REGION, "us-isob-east-1"),
        (names.REGION, "eusc-de-east-1"),
        (names.ZONE_ID, "usw2-az4"),
        (names.ZONE_ID, "apne1-az1"),
        (names.ZONE_ID, "usge1-az1"),
        (names.BUCKET, "sagemaker-checkpoints"),
        (names.ACCOUNT_ID, "012345678901"),
        (names.IMAGE_ID, "default"),
        (names.TAG_KEY, "team/größe"),
        (names.TAG_VALUE, ""),
    ],
)
def test_legal_names(rule: NameRule, name: str):
    assert rule.matches(name)


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (names.CLUSTER, ""),
        (names.CLUSTER, "llm_train"),
        (names.CLUSTER, "llm-"),
        (names.CLUSTER, "-llm"),
        (names.CLUSTER, "a" * 64),
        (names.CLUSTER, "llm-train\n"),
        (names.CLUSTER_ID, "ABCDEFGH1234"),
        (names.SECURITY_GROUP_ID, "sg-0abc..."),
        (names.SECURITY_GROUP_ID, "sg-0123456789"),
        (names.SUBNET_ID, "subnet-0abc..."),
        (names.VPC_ID, "subnet-01234567"),
        (names.KMS_KEY_ARN, "arn:aws:kms:us-west-2:111122223333:alias/checkpoints"),
        (names.KMS_KEY_ARN, "1234abcd-12ab-34cd-56ef-1234567890ab"),
        (names.REGION, "Oregon"),
        (names.REGION, "us-west-2a"),
        (names.ZONE_ID, "us-west-2a"),
        (names.ZONE_ID, "usw2-az"),
        (names.BUCKET, "Sagemaker-x"),
        (names.BUCKET, "ab"),
        (names.TAG_KEY, ""),
        (names.TAG_KEY, "a,b"),
    ],
)
def test_illegal_names(rule: NameRule, name: str):
    assert not rule.matches(name)


def test_a_node_is_reached_through_ssm_by_cluster_group_and_instance():
    assert (
        names.ssm_target("abcdefgh1234", "workers", "i-0123")
        == "sagemaker-cluster:abcdefgh1234_workers-i-0123"
    )
