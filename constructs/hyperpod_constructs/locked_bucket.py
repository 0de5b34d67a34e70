"""The bucket behind both trust boundaries: who writes it runs code on the nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aws_cdk import Duration, RemovalPolicy, Stack, Token
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs.access_log_bucket import AccessLogBucket
from hyperpod_constructs.bucket_lock import ConfigurationLock, ObjectLock, bucket_name_prefix
from hyperpod_constructs.object_access import ObjectAccess
from hyperpod_constructs.rotating_key import rotating_key
from hyperpod_model.catalog.iam import bucket_key_via_service
from hyperpod_model.catalog.names import BUCKET, MANAGED_BUCKET_PREFIX
from hyperpod_model.faults import Fault, InvalidInputError


class LockedBucket(Construct):
    """Encrypted, versioned, logged bucket whose policy lists who may write it and who may change it.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        label: Short word for the generated name and the access logs, such as ``ckpt``; at most five
            characters.
        lock_reads: Whether object reads are denied except to readers and writers.
        noncurrent_version_expiration: Age at which overwritten and deleted versions go.
        administrators: Roles that may change the configuration besides the role that deploys the stack.
        kms_key: Key of the objects. Default: one of its own, rotated yearly and retained.
        bucket_name: Physical name. Default: one that only this account can take.
        access_log_bucket: Where requests are logged. Default: a bucket of its own.

    Raises:
        InvalidInputError: If nobody could change the bucket again, or the name is illegal.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        label: str,
        lock_reads: bool,
        noncurrent_version_expiration: Duration,
        administrators: Sequence[iam.IRole] | None,
        kms_key: kms.IKey | None,
        bucket_name: str | None,
        access_log_bucket: AccessLogBucket | None,
    ) -> None:
        super().__init__(scope, id)
        _check_bucket_name(scope, bucket_name)
        self.key = (
            rotating_key(self, "Key", description=f"Objects of {scope.node.path}")
            if kms_key is None
            else kms_key
        )
        self.bucket = s3.Bucket(
            self,
            "Resource",
            bucket_name=bucket_name,
            bucket_name_prefix=(
                bucket_name_prefix(self, f"{MANAGED_BUCKET_PREFIX}{label}-") if bucket_name is None else None
            ),
            bucket_namespace=s3.BucketNamespace.ACCOUNT_REGIONAL if bucket_name is None else None,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            encryption=s3.BucketEncryption.KMS,
            encryption_key=self.key,
            bucket_key_enabled=True,
            enforce_ssl=True,
            versioned=True,
            removal_policy=RemovalPolicy.RETAIN,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="expire-leftovers",
                    noncurrent_version_expiration=noncurrent_version_expiration,
                    expired_object_delete_marker=True,
                    abort_incomplete_multipart_upload_after=Duration.days(7),
                )
            ],
        )
        self._configuration = ConfigurationLock(scope, self.bucket, administrators)
        self._objects = ObjectLock(scope, self.bucket, reads=lock_reads)
        self.access_log_bucket = (
            AccessLogBucket(self, "AccessLogs", administrators=administrators)
            if access_log_bucket is None
            else access_log_bucket
        )
        self.access_log_bucket.receive_logs_of(self.bucket, f"{label}-{self.node.addr[-8:]}/")

    def add_writer(self, role: iam.IRole) -> None:
        """Exempt a role from the denials of object writes and reads."""
        self._objects.add_writer(role)

    def hold_back(self, role: iam.IRole) -> None:
        """Let what is granted to a role take effect after the lock, and whatever waits for the role as well.

        Where the role lives in another stack, that one waits for the bucket's stack already, or has no part
        in this deployment.

        Args:
            role: A role whose own policies allow it something in this bucket.
        """
        lock = self.bucket.policy
        assert lock is not None
        for policy in role.node.find_all():
            if (
                isinstance(policy, iam.Policy | iam.ManagedPolicy)
                and Stack.of(policy).node.path == Stack.of(lock).node.path
            ):
                policy.node.add_dependency(lock)

    def add_reader(self, role: iam.IRole) -> None:
        """Exempt a role from the denial of object reads."""
        self._objects.add_reader(role)

    def add_administrator(self, role: iam.IRole) -> None:
        """Exempt a role from the denial of configuration changes."""
        self._configuration.add_administrator(role)

    def add_service_role(self, arn: str, *, writes: bool, configures: bool) -> None:
        """Exempt a role that is linked to a service, whose own policy says what the service does with it.

        Args:
            arn: Its ARN, or a pattern of ARNs of such roles.
            writes: Whether it writes objects; it reads them in any case.
            configures: Whether it changes the bucket, such as its event notifications.
        """
        self._objects.add_service_role(arn, writes=writes)
        if configures:
            self._configuration.add_service_role(arn)


def allow_objects(
    scope: Construct,
    role: iam.IRole,
    *,
    bucket: s3.IBucket,
    key: kms.IKey | None,
    access: ObjectAccess,
    objects: str = "*",
) -> iam.Grant:
    """Allow a role to work with a bucket's objects, as long as the bucket belongs to the expected account.

    Adds to the role's own policies only: neither the bucket's nor the key's policy names the role, so no
    order of construction can make role, bucket and key depend on each other.

    Args:
        scope: The construct that grants; errors name it.
        role: A role of the bucket's account.
        bucket: The bucket.
        key: Its key, if encrypted with SSE-KMS. Its policy must leave access to IAM, as CDK's default does.
        access: Actions on bucket, objects and key.
        objects: Pattern of object keys.

    Raises:
        InvalidInputError: If the role is known to belong to another account.
    """
    account = bucket.env.account
    refuse_foreign_role(scope, role, account)
    pinned = {"StringEquals": {"s3:ResourceAccount": account}}
    grant = iam.Grant.add_to_principal(
        grantee=role, actions=list(access.bucket), resource_arns=[bucket.bucket_arn], conditions=pinned
    ).combine(
        iam.Grant.add_to_principal(
            grantee=role,
            actions=list(access.objects),
            resource_arns=[bucket.arn_for_objects(objects)],
            conditions=pinned,
        )
    )
    if key is None:
        return grant
    return grant.combine(
        iam.Grant.add_to_principal(
            grantee=role,
            actions=list(access.key),
            resource_arns=[key.key_arn],
            conditions={"StringLike": {"kms:ViaService": bucket_key_via_service(bucket.env.region)}},
        )
    )


def refuse_foreign_role(scope: Construct, role: iam.IRole, account: str) -> None:
    """Refuse a role of another account, which would need bucket and key policies of its own.

    Raises:
        InvalidInputError: If both accounts are known and differ.
    """
    other = role.principal_account
    if other is None or Token.is_unresolved(other) or Token.is_unresolved(account) or other == account:
        return
    raise InvalidInputError(
        [
            Fault(
                (scope.node.path,),
                f"role '{role.node.path}' belongs to account {other} and the bucket to {account}; grant to a "
                "role of the bucket's account, and let the other account assume that",
            )
        ]
    )


def _check_bucket_name(scope: Construct, name: str | None) -> None:
    if name is None or Token.is_unresolved(name):
        return
    if (
        BUCKET.matches(name)
        and name.startswith(MANAGED_BUCKET_PREFIX)
        and not re.search(r"\.\.|\.-|-\.", name)
    ):
        return
    raise InvalidInputError(
        [
            Fault(
                (scope.node.path, "bucket_name"),
                f"needs a name of {BUCKET.min_length} to {BUCKET.max_length} {BUCKET.in_words} that begins "
                f"with '{MANAGED_BUCKET_PREFIX}', which the nodes' managed policy asks for, got '{name}'; "
                "leave it out for a name that only this account can take",
            )
        ]
    )
