"""Lambda functions behind custom resources, small enough to stand in the template itself."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from aws_cdk import Aws, CustomResource, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

_RUNTIME = "python3.14"
_LARGEST_INLINE_CODE = 4096
_RUNS = 3
"""AWS Lambda invokes an asynchronous event that failed twice more."""
_BETWEEN_RUNS_SECONDS = 600
"""Two pauses of a minute and two, and time to start."""
_LONGEST_SERVICE_TIMEOUT_SECONDS = 3600


class InlineHandler(Construct):
    """A Lambda function with exactly the permissions it is given and a log group of its own.

    Inline code needs no asset bucket, so any synthesizer will do; an L1 function is the same under every
    feature flag.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        handler: Name of the module in ``hyperpod_constructs.handlers``.
        description: What the function is for.
        statements: IAM statements of its role, in JSON form, besides those for its own log.
        timeout_seconds: Longest run of the function. CloudFormation waits for three such runs, and no whole
            hour for a function that never answers.
        log_retention: How long its log is kept.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        handler: str,
        description: str,
        statements: Sequence[dict[str, Any]],
        timeout_seconds: int,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
    ) -> None:
        super().__init__(scope, id)
        code = files("hyperpod_constructs.handlers").joinpath(f"{handler}.py").read_text(encoding="utf-8")
        if len(code) > _LARGEST_INLINE_CODE:
            raise ValueError(
                f"inline code must have at most {_LARGEST_INLINE_CODE} characters, got {len(code)}"
            )
        log_group = logs.LogGroup(self, "Log", retention=log_retention, removal_policy=RemovalPolicy.DESTROY)
        role = iam.CfnRole(
            self,
            "Role",
            description=description,
            assume_role_policy_document={
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": "sts:AssumeRole",
                        "Principal": {"Service": "lambda.amazonaws.com"},
                    }
                ],
            },
        )
        write_log = {
            "Sid": "WriteItsLog",
            "Effect": "Allow",
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Resource": log_group.log_group_arn,
        }
        self._policy = iam.CfnManagedPolicy(
            self,
            "Policy",
            description=description,
            roles=[role.ref],
            policy_document={"Version": "2012-10-17", "Statement": [*statements, write_log]},
        )
        self._service_timeout = Duration.seconds(
            min(_RUNS * timeout_seconds + _BETWEEN_RUNS_SECONDS, _LONGEST_SERVICE_TIMEOUT_SECONDS)
        )
        self._function = lambda_.CfnFunction(
            self,
            "Resource",
            description=description,
            runtime=_RUNTIME,
            handler="index.handler",
            code=lambda_.CfnFunction.CodeProperty(zip_file=code),
            role=role.attr_arn,
            timeout=timeout_seconds,
            memory_size=256,
            architectures=["arm64"],
            logging_config=lambda_.CfnFunction.LoggingConfigProperty(
                log_format="JSON", log_group=log_group.log_group_name
            ),
        )

    def custom_resource(
        self, scope: Construct, id: str, *, resource_type: str, properties: dict[str, Any]
    ) -> CustomResource:
        """A custom resource that this function answers for, made when the function may do its work.

        Args:
            scope: Parent of the resource.
            id: Id within the parent.
            resource_type: CloudFormation type, such as ``Custom::FinalBackup``.
            properties: What the function gets as ``ResourceProperties``.
        """
        resource = CustomResource(
            scope,
            id,
            service_token=self._function.attr_arn,
            resource_type=resource_type,
            properties=properties,
            service_timeout=self._service_timeout,
        )
        resource.node.add_dependency(self._policy)
        return resource


def resource_arn(service: str, resource: str) -> str:
    """ARN of a resource in the stack's partition, region and account.

    Args:
        service: Such as ``ec2``.
        resource: The last part, such as ``security-group/sg-0123``.
    """
    return f"arn:{Aws.PARTITION}:{service}:{Aws.REGION}:{Aws.ACCOUNT_ID}:{resource}"
