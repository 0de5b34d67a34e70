"""Denials in the policy of a bucket or a key that hold whatever identity policies say."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aws_cdk import Aws, Fn, RemovalPolicy, Stack, Token
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs.deploying_role import deploying_role_arn
from hyperpod_constructs.policy_size import least_size
from hyperpod_constructs.role_identity import role_arn_for
from hyperpod_constructs.tree_validation import validate_at_synth
from hyperpod_model.catalog.iam import (
    S3_BUCKET_CONFIGURATION_PATTERNS,
    S3_OBJECT_READ_PATTERNS,
    S3_OBJECT_WRITE_PATTERNS,
)
from hyperpod_model.catalog.limits import MAX_BUCKET_POLICY_BYTES
from hyperpod_model.catalog.names import ROLE_ARN
from hyperpod_model.faults import Fault, InvalidInputError

_TOKEN = re.compile(r"\$\{Token\[[^\]]*\]\}")
_MATCHES_MANY = re.compile(r"[*?]|\$\{")


def bucket_name_prefix(scope: Construct, beginning: str) -> str:
    """Prefix of a bucket's name in the account-regional namespace, unlike that of any other bucket.

    S3 appends ``-<account>-<region>-an``, and no other account can take such a name. The part of the stack's
    id keeps a new stack clear of the buckets that an earlier one of the same name left behind.

    Args:
        scope: The construct that owns the bucket.
        beginning: First characters; at most 15, so that 63 suffice in the Region with the longest name.
    """
    stack_instance = Fn.select(0, Fn.split("-", Fn.select(2, Fn.split("/", Aws.STACK_ID))))
    return f"{beginning}{scope.node.addr[-8:]}-{stack_instance}"


class ExceptRoles:
    """A denial for everybody but the roles listed so far; for everybody while there is none."""

    def __init__(
        self,
        scope: Construct,
        owner: s3.Bucket | kms.Key,
        *,
        sid: str,
        what: str,
        actions: Sequence[str],
        resource: str,
    ) -> None:
        """Deny at once, unconditionally.

        Args:
            scope: The construct that owns the bucket or key; errors name it.
            owner: The bucket or key whose policy denies.
            sid: Id of the statement.
            what: What the exempted roles are, such as ``writers``.
            actions: Actions or patterns to deny.
            resource: What they are denied on.
        """
        self._scope = scope
        self._what = what
        self._arns: dict[str, None] = {}
        self._statement = iam.PolicyStatement(
            sid=sid,
            effect=iam.Effect.DENY,
            principals=[iam.StarPrincipal()],
            # Sorted, as a feature flag would have it: the template must not depend on flags.
            actions=sorted(actions),
            resources=[resource],
        )
        owner.add_to_resource_policy(self._statement)

    def add_role(self, role: iam.IRole) -> None:
        """Exempt a role.

        Args:
            role: In all its sessions: their ``aws:PrincipalArn`` is the role's ARN.

        Raises:
            InvalidInputError: If its ARN is not that of one role, the role lives in another stack and has no
                physical name, or the policy was resolved already.
        """
        self.add_arn(role_arn_for(self._scope, role, what=self._what))

    def add_arn(self, arn: str) -> None:
        """Exempt the role with an ARN.

        Args:
            arn: ARN of a role; may be a Token. Wildcards and policy variables, which the denial would take
                for whoever matches, are refused, and so are the ARNs of users and sessions.

        Raises:
            InvalidInputError: If it is not the ARN of one role, or the policy was resolved already.
        """
        if not _names_one_role(arn):
            raise InvalidInputError(
                [
                    Fault(
                        (self._scope.node.path, self._what),
                        f"needs the ARN of one role ({ROLE_ARN.in_words}), got '{arn}'; wildcards and policy "
                        "variables would list whoever matches, so list each role by itself, and the role "
                        "instead of its sessions",
                    )
                ]
            )
        self.add_pattern(arn)

    def add_pattern(self, arn: str) -> None:
        """Exempt every role whose ARN matches a pattern.

        Args:
            arn: For roles that nobody in the account can make or take, such as those linked to a service.

        Raises:
            InvalidInputError: If the policy was resolved already.
        """
        self._arns[arn] = None
        # Sets the key's whole list, replacing the shorter one of before. A principal without an ARN, such as
        # an anonymous one or a service, matches the negated operator and stays denied.
        try:
            self._statement.add_condition("ArnNotEquals", {"aws:PrincipalArn": list(self._arns)})
        except RuntimeError as error:
            if "freeze() has been called" not in str(error):
                raise
            raise InvalidInputError(
                [
                    Fault(
                        (self._scope.node.path, self._what),
                        "cannot change any more, since something has resolved the policy already, "
                        "and CDK freezes what it has rendered; list roles before that (an Aspect or a tool "
                        "that resolves policies comes last)",
                    )
                ]
            ) from error


def _names_one_role(arn: str) -> bool:
    if Token.is_unresolved(arn):
        return _MATCHES_MANY.search(_TOKEN.sub("", arn)) is None
    return ROLE_ARN.matches(arn)


class ConfigurationLock:
    """Denies changes of a bucket's configuration to everybody but its administrators."""

    def __init__(
        self, scope: Construct, bucket: s3.Bucket, administrators: Sequence[iam.IRole] | None
    ) -> None:
        """Deny, keep the policy where the bucket is kept, and refuse a policy that S3 would not take.

        Args:
            scope: The construct that owns the bucket; errors name it.
            bucket: The bucket to lock.
            administrators: Roles besides the one with which CloudFormation deploys the stack.

        Raises:
            InvalidInputError: If nobody could change the bucket again.
        """
        deploying_role = deploying_role_arn(scope)
        if deploying_role is None and not administrators:
            raise InvalidInputError(
                [
                    Fault(
                        (scope.node.path, "administrators"),
                        "the stack's synthesizer names no role with which CloudFormation deploys, so nobody "
                        "could change this bucket again; pass administrators=[...] with the role that "
                        "deploys the stack, such as "
                        'iam.Role.from_role_arn(self, "Deployer", "arn:aws:iam::<account>:role/<name>")',
                    )
                ]
            )
        self._denial = ExceptRoles(
            scope,
            bucket,
            sid="DenyConfigurationExceptAdministrators",
            what="administrators",
            actions=S3_BUCKET_CONFIGURATION_PATTERNS,
            resource=bucket.bucket_arn,
        )
        if deploying_role is not None:
            self._denial.add_arn(deploying_role)
        for role in () if administrators is None else administrators:
            self._denial.add_role(role)
        # A retained bucket without its policy would be an open one.
        assert bucket.policy is not None
        bucket.policy.apply_removal_policy(RemovalPolicy.RETAIN)
        self._policy = bucket.policy
        validate_at_synth(scope, self._find_oversize)

    def _find_oversize(self) -> list[str]:
        size = least_size(Stack.of(self._policy).resolve(self._policy.document))
        if size <= MAX_BUCKET_POLICY_BYTES:
            return []
        return [
            f"needs a bucket policy of at most {MAX_BUCKET_POLICY_BYTES} bytes, which S3 accepts, got at "
            f"least {size}; list fewer roles, such as one that others assume, and log fewer buckets to one"
        ]

    def add_administrator(self, role: iam.IRole) -> None:
        """Exempt one more role.

        Args:
            role: It still needs permissions of its own.
        """
        self._denial.add_role(role)

    def add_service_role(self, arn: str) -> None:
        """Exempt a role that is linked to a service, which does with it only what the service does.

        Args:
            arn: Its ARN, or a pattern of ARNs.
        """
        self._denial.add_pattern(arn)


class ObjectLock:
    """Denies object writes to everybody but writers and, if wanted, object reads to everybody but readers."""

    def __init__(self, scope: Construct, bucket: s3.Bucket, *, reads: bool) -> None:
        """Deny both to everybody, until roles are added.

        Args:
            scope: The construct that owns the bucket; errors name it.
            bucket: The bucket to lock.
            reads: Whether object reads are denied as well.
        """
        objects = bucket.arn_for_objects("*")
        self._writes = ExceptRoles(
            scope,
            bucket,
            sid="DenyObjectWritesExceptWriters",
            what="writers",
            actions=S3_OBJECT_WRITE_PATTERNS,
            resource=objects,
        )
        self._reads = (
            ExceptRoles(
                scope,
                bucket,
                sid="DenyObjectReadsExceptReaders",
                what="readers",
                actions=S3_OBJECT_READ_PATTERNS,
                resource=objects,
            )
            if reads
            else None
        )

    def add_writer(self, role: iam.IRole) -> None:
        """Exempt a role from both denials.

        Args:
            role: It still needs permissions of its own.
        """
        self._writes.add_role(role)
        self.add_reader(role)

    def add_reader(self, role: iam.IRole) -> None:
        """Exempt a role from the denial of reads.

        Args:
            role: It still needs permissions of its own.
        """
        if self._reads is not None:
            self._reads.add_role(role)

    def add_service_role(self, arn: str, *, writes: bool) -> None:
        """Exempt a role that is linked to a service from the denial of reads, and of writes if wanted.

        Args:
            arn: Its ARN, or a pattern of ARNs.
            writes: Whether it writes as well.
        """
        if writes:
            self._writes.add_pattern(arn)
        if self._reads is not None:
            self._reads.add_pattern(arn)
