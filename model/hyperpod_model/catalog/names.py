"""Names, ids and ARNs: what they may look like."""

from __future__ import annotations

import re
from typing import NamedTuple

from hyperpod_model.catalog._tables import table


class NameRule(NamedTuple):
    """What a name may look like.

    Attributes:
        pattern: Regular expression that the whole name must match.
        min_length: Fewest characters.
        max_length: Most characters.
        in_words: The pattern for people.
    """

    pattern: str
    min_length: int
    max_length: int
    in_words: str

    @property
    def with_length(self) -> str:
        """The pattern for people, with how many characters there may be."""
        return f"{self.min_length} to {self.max_length} {self.in_words}"

    def matches(self, name: str) -> bool:
        """Whether a name is legal."""
        return (
            self.min_length <= len(name) <= self.max_length and re.fullmatch(self.pattern, name) is not None
        )


_TABLE = table("names")


def _rule(name: str) -> NameRule:
    return NameRule(**_TABLE["names"][name])


CLUSTER = _rule("cluster")
INSTANCE_GROUP = _rule("instance_group")
PARTITION = _rule("partition")
CLUSTER_ID = _rule("cluster_id")
CLUSTER_ARN = _rule("cluster_arn")
LIFECYCLE_SCRIPT = _rule("lifecycle_script")
SOURCE_S3_URI = _rule("source_s3_uri")
ROLE_ARN = _rule("role_arn")
TRAINING_PLAN_ARN = _rule("training_plan_arn")
KMS_KEY_ID = _rule("kms_key_id")
KMS_KEY_ARN = _rule("kms_key_arn")
"""ARN of a key, not of an alias. ``KMS_KEY_ID`` is what the SageMaker API takes."""

TOPIC_ARN = _rule("topic_arn")
"""Of a standard topic: events and alarms cannot be sent to FIFO topics with e-mail subscriptions."""

EMAIL_ADDRESS = _rule("email_address")
"""Looser than any standard: Amazon SNS mails the address, and waits until somebody confirms it."""

IMAGE_ID = _rule("image_id")
SECURITY_GROUP_ID = _rule("security_group_id")
"""EC2's own form. The SageMaker API checks less and lets EC2 refuse the rest."""

SUBNET_ID = _rule("subnet_id")
VPC_ID = _rule("vpc_id")
ACCOUNT_ID = _rule("account_id")
REGION = _rule("region")
ZONE_ID = _rule("zone_id")
LUSTRE_DNS_NAME = _rule("lustre_dns_name")
LUSTRE_MOUNT_NAME = _rule("lustre_mount_name")
MOUNT_PATH = _rule("mount_path")
BUCKET = _rule("bucket")
KUBERNETES_NAMESPACE = _rule("kubernetes_namespace")
KUBERNETES_SERVICE_ACCOUNT = _rule("kubernetes_service_account")
CHART_VERSION = _rule("chart_version")
"""Of a Helm chart in a registry."""

OIDC_ISSUER = _rule("oidc_issuer")
"""Of an EKS cluster, as condition keys of IAM have it: without ``https://``."""

TAG_KEY = _rule("tag_key")
TAG_VALUE = _rule("tag_value")

MANAGED_BUCKET_PREFIX: str = _TABLE["managed_bucket_prefix"]
"""Prefix of the buckets that the nodes' managed policy reads: a limit of that policy, not of the service."""


def ssm_target(cluster_id: str, group: str, instance_id: str) -> str:
    """Target of an AWS Systems Manager session with a node.

    Args:
        cluster_id: The 12 characters at the end of the cluster's ARN.
        group: Name of the instance group.
        instance_id: EC2 id of the node, such as ``i-0abc...``.
    """
    template: str = _TABLE["ssm_target"]
    return template.format(cluster_id=cluster_id, group=group, instance_id=instance_id)
