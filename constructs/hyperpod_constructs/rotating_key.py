"""KMS keys of this library."""

from __future__ import annotations

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct


def rotating_key(
    scope: Construct, id: str, *, description: str, removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
) -> kms.Key:
    """A key that rotates yearly, leaves access to IAM and outlives its stack.

    Args:
        scope: Parent of the key.
        id: Id within the parent.
        description: What it encrypts.
        removal_policy: What becomes of it with its stack. Default: it stays.
    """
    # The CDK's default policy, except that its partition would depend on a feature flag.
    account = iam.ArnPrincipal(f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:root")
    leave_to_iam = iam.PolicyStatement(principals=[account], actions=["kms:*"], resources=["*"])
    return kms.Key(
        scope,
        id,
        description=description,
        enable_key_rotation=True,
        removal_policy=removal_policy,
        policy=iam.PolicyDocument(statements=[leave_to_iam]),
    )
