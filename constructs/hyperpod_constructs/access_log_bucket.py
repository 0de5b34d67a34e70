"""A bucket for S3 server access logs that nobody but log delivery can write."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs.bucket_lock import ConfigurationLock, bucket_name_prefix
from hyperpod_model.catalog.iam import ACCESS_LOG_ACTION, ACCESS_LOG_SERVICE, S3_OBJECT_WRITE_PATTERNS


class AccessLogBucket(Construct):
    """Bucket for the server access logs of other buckets.

    Locked differently from the buckets it watches: log delivery is a service and has no ``aws:PrincipalArn``,
    so object writes and deletes are denied to every principal that is no AWS service, and of the services
    only log delivery is allowed, for named source buckets of this account. Configuration is denied except to
    the administrators, like everywhere. Who may read the logs is left to identity policies.

    Encrypted with SSE-S3, since log delivery cannot write to a bucket whose default encryption is SSE-KMS.
    Source: Amazon S3 user guide, enabling server access logging. The name does not begin with ``sagemaker-``:
    the nodes' managed policy may read every such bucket of the account.

    Retained when the stack goes, with its policy.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        administrators: Roles that may change the bucket's configuration, besides the role with which
            CloudFormation deploys the stack. Required where the stack's synthesizer names no such role.
        expiration: Age at which logs are deleted. Default 365 days.

    Raises:
        InvalidInputError: If nobody could change the bucket again.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        administrators: Sequence[iam.IRole] | None = None,
        expiration: Duration | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.bucket = s3.Bucket(
            self,
            "Resource",
            bucket_name_prefix=bucket_name_prefix(self, "hyperpod-logs-"),
            bucket_namespace=s3.BucketNamespace.ACCOUNT_REGIONAL,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            removal_policy=RemovalPolicy.RETAIN,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="expire-logs",
                    expiration=Duration.days(365) if expiration is None else expiration,
                    noncurrent_version_expiration=Duration.days(30),
                    abort_incomplete_multipart_upload_after=Duration.days(7),
                )
            ],
        )
        self._configuration = ConfigurationLock(self, self.bucket, administrators)
        self.bucket.add_to_resource_policy(
            iam.PolicyStatement(
                sid="DenyObjectWritesExceptServices",
                effect=iam.Effect.DENY,
                principals=[iam.StarPrincipal()],
                actions=sorted(S3_OBJECT_WRITE_PATTERNS),
                resources=[self.bucket.arn_for_objects("*")],
                conditions={"BoolIfExists": {"aws:PrincipalIsAWSService": "false"}},
            )
        )

    def add_administrator(self, role: iam.IRole) -> None:
        """Exempt one more role from the denial of configuration changes.

        Args:
            role: It still needs permissions of its own.
        """
        self._configuration.add_administrator(role)

    def receive_logs_of(self, bucket: s3.Bucket, prefix: str) -> None:
        """Have a bucket log its requests here.

        Args:
            bucket: The bucket to watch, in the same account and Region.
            prefix: Where its logs go, such as ``checkpoints/``.
        """
        source = bucket.node.default_child
        assert isinstance(source, s3.CfnBucket)
        # The L2 property would grant by ACL or by policy depending on a feature flag, and an ACL fails here.
        source.logging_configuration = s3.CfnBucket.LoggingConfigurationProperty(
            destination_bucket_name=self.bucket.bucket_name, log_file_prefix=prefix
        )
        self.bucket.add_to_resource_policy(
            iam.PolicyStatement(
                sid=f"AllowLogsOf{bucket.node.addr[-8:]}",
                principals=[iam.ServicePrincipal(ACCESS_LOG_SERVICE)],
                actions=[ACCESS_LOG_ACTION],
                resources=[self.bucket.arn_for_objects(f"{prefix}*")],
                conditions={
                    "ArnLike": {"aws:SourceArn": bucket.bucket_arn},
                    "StringEquals": {"aws:SourceAccount": bucket.env.account},
                },
            )
        )
