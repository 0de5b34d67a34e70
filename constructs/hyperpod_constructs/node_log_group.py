"""A log group that the nodes make too, if they are first."""

from __future__ import annotations

from typing import Any

from aws_cdk import Aws, CustomResource
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_constructs.inline_handler import InlineHandler, resource_arn
from hyperpod_model.catalog.logs import LOG_GROUP_KEY_SERVICE

_KEY_USE = ("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*")


class NodeLogGroup(Construct):
    """A log group of the nodes, kept for some days and encrypted, whoever made it.

    The name of the nodes' own group ends in the id of the cluster, so it cannot be made before the cluster;
    the nodes make it as soon as they print something, so a ``AWS::Logs::LogGroup`` after the cluster would
    fail. That of their containers may be there from an earlier cluster on the same EKS cluster. A custom
    resource makes the group or adopts it, sets retention and key, and never deletes it: logs outlive the
    cluster until they expire. What was logged before the key was set stays encrypted with CloudWatch Logs'
    own; what is logged afterwards is encrypted with this one.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        log_group_name: Name of the group, such as ``cluster.log_group_name``.
        retention_days: Days for which it is kept, one of those that CloudWatch Logs takes.
        key: Key that encrypts it; see ``let_logs_use_key``.

    Attributes:
        log_group: The group. What takes its name waits until it exists.
    """

    log_group: logs.ILogGroup

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        log_group_name: str,
        retention_days: int,
        key: kms.IKey,
    ) -> None:
        super().__init__(scope, id)
        arn = resource_arn("logs", f"log-group:{log_group_name}")
        handler = InlineHandler(
            self,
            "Handler",
            handler="keep_node_log_group",
            description="Keeps and encrypts the log group of a cluster's nodes",
            timeout_seconds=60,
            statements=[
                {
                    "Sid": "KeepLogGroup",
                    "Effect": "Allow",
                    "Action": ["logs:AssociateKmsKey", "logs:CreateLogGroup", "logs:PutRetentionPolicy"],
                    # IAM sees the group with and without the part that stands for its streams.
                    "Resource": [arn, f"{arn}:*"],
                }
            ],
        )
        self._resource = handler.custom_resource(
            self,
            "Resource",
            resource_type="Custom::NodeLogGroup",
            properties={
                "LogGroupName": log_group_name,
                "RetentionInDays": retention_days,
                "KmsKeyArn": key.key_arn,
            },
        )
        self._resource.node.add_dependency(key)
        self.log_group = logs.LogGroup.from_log_group_name(self, "LogGroup", self._resource.ref)

    @property
    def resource(self) -> CustomResource:
        """The custom resource, for what has to wait for it."""
        return self._resource


def let_logs_use_key(key: kms.IKey, *log_group_names: str, sid: str = "CloudWatchLogs") -> None:
    """Let CloudWatch Logs use a key, for log groups of this account and region only.

    Args:
        key: A key of this app.
        *log_group_names: Names of the groups; ``*`` at the end of one stands for anything.
        sid: Id of the statement, of which a policy has one. Default: ``CloudWatchLogs``.
    """
    arns: list[Any] = [resource_arn("logs", f"log-group:{name}") for name in log_group_names]
    key.add_to_resource_policy(
        iam.PolicyStatement(
            sid=sid,
            principals=[iam.ServicePrincipal(f"{LOG_GROUP_KEY_SERVICE}{Aws.REGION}.{Aws.URL_SUFFIX}")],
            actions=list(_KEY_USE),
            resources=["*"],
            conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": arns}},
        )
    )
