"""What a specification names by id or ARN, imported once each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from aws_cdk import Annotations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct, IConstruct

if TYPE_CHECKING:
    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_secretsmanager as secretsmanager
    from aws_cdk import aws_sns as sns

T = TypeVar("T", bound=IConstruct)


class ExistingResources:
    """Imports into a stack, each id or ARN once, none of which is changed.

    Args:
        scope: The stack.
    """

    def __init__(self, scope: Construct) -> None:
        self._scope = scope
        self._imported: dict[tuple[str, str], IConstruct] = {}

    def role(self, arn: str) -> iam.IRole:
        """The role with an ARN."""
        return self._once("Role", arn, lambda id: iam.Role.from_role_arn(self._scope, id, arn, mutable=False))

    def roles(self, arns: Iterable[str]) -> list[iam.IRole]:
        """The roles with some ARNs, in their order."""
        return [self.role(arn) for arn in dict.fromkeys(arns)]

    def key(self, arn: str) -> kms.IKey:
        """The KMS key with an ARN."""
        return self._once("Key", arn, lambda id: kms.Key.from_key_arn(self._scope, id, arn))

    def secret(self, arn: str) -> secretsmanager.ISecret:
        """The secret with a complete ARN."""
        from aws_cdk import aws_secretsmanager as secretsmanager

        return self._once(
            "Secret",
            arn,
            lambda id: secretsmanager.Secret.from_secret_complete_arn(self._scope, id, arn),
        )

    def bucket(self, name: str) -> s3.IBucket:
        """The bucket with a name."""
        return self._once("Bucket", name, lambda id: s3.Bucket.from_bucket_name(self._scope, id, name))

    def topic(self, arn: str) -> sns.ITopic:
        """The SNS topic with an ARN."""
        from aws_cdk import aws_sns as sns

        return self._once("Topic", arn, lambda id: sns.Topic.from_topic_arn(self._scope, id, arn))

    def alarm(self, name: str) -> cloudwatch.IAlarm:
        """The CloudWatch alarm with a name."""
        from aws_cdk import aws_cloudwatch as cloudwatch

        return self._once(
            "Alarm", name, lambda id: cloudwatch.Alarm.from_alarm_name(self._scope, id, alarm_name=name)
        )

    def subnet(self, subnet_id: str) -> ec2.ISubnet:
        """The subnet with an id."""
        subnet = self._once(
            "Subnet", subnet_id, lambda id: ec2.Subnet.from_subnet_id(self._scope, id, subnet_id)
        )
        Annotations.of(subnet).acknowledge_warning(
            "@aws-cdk/aws-ec2:noSubnetRouteTableId", "nothing here asks for the route table or changes it"
        )
        return subnet

    def security_group(self, group_id: str) -> ec2.ISecurityGroup:
        """The security group with an id."""
        return self._once(
            "SecurityGroup",
            group_id,
            lambda id: ec2.SecurityGroup.from_security_group_id(self._scope, id, group_id, mutable=False),
        )

    def _once(self, kind: str, name: str, load: Callable[[str], T]) -> T:
        if (kind, name) not in self._imported:
            number = 1 + sum(1 for known_kind, _ in self._imported if known_kind == kind)
            self._imported[kind, name] = load(f"Existing{kind}{number}")
        found: T = self._imported[kind, name]  # type: ignore[assignment]
        return found
