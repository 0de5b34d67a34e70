"""The bucket that training jobs keep their checkpoints in."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Annotations, Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs.access_log_bucket import AccessLogBucket
from hyperpod_constructs.argument_kinds import BUCKET, KEY, ROLE, check_kind, check_kinds
from hyperpod_constructs.existing_role_access import let_existing_roles_in
from hyperpod_constructs.locked_bucket import LockedBucket, allow_objects, refuse_foreign_role
from hyperpod_constructs.object_access import CHECKPOINTING, READING
from hyperpod_model.faults import Fault, InvalidInputError, refuse

FOREIGN_BUCKET_WARNING = "hyperpod:CheckpointBucket.foreignBucket"


class CheckpointBucket(Construct):
    """Bucket for checkpoints: whoever writes it runs code on the training nodes, so writers are listed.

    A checkpoint is unpickled when a job resumes, and unpickling runs code. Source: SageMaker developer guide,
    managed tiered checkpointing, security considerations. The bucket's policy therefore denies, whatever
    identity policies say:

    - requests without TLS;
    - object writes and deletes, except to ``writers``;
    - object reads, except to ``readers`` and ``writers``;
    - changes of the configuration (policy, ACL, versioning, encryption, lifecycle, replication, public
      access, deletion and so on), except to the administrators.

    Reading the configuration and listing names stay with identity policies, so that CloudFormation and
    reviewers can look. As long as a list is empty its denial holds for everybody. Roles may be added at any
    time before synthesis.

    Besides: all public access blocked, owner enforced, a KMS key with rotation and bucket key, versioning,
    access logs in a bucket that only log delivery writes, leftovers expired, everything retained when the
    stack goes. The name lies in the account-regional namespace, which no other account can take, and begins
    with ``sagemaker-``.

    What remains possible, and to whom:

    - the account's root user, and whoever may ``sts:AssumeRoot`` into the account, can always read, replace
      or delete the bucket's policy (that is the way out of a lock-out), and so can nobody else who is no
      administrator;
    - an administrator can lift the lock: whoever can assume the role with which CloudFormation deploys, or
      can change that role, or deploys stacks through it. A deployment with other credentials than an
      administrator's fails;
    - a writer, in any of its sessions, can poison checkpoints; on Slurm that is every user who can run a job,
      since jobs share the nodes' execution role. Versioning keeps what was there before, and
      ``grant_checkpointing`` allows no deletion of versions;
    - whoever can change or assume a writer's role is a writer, and so is who creates a role of its name once
      it is gone. IAM permissions on those roles are part of the boundary;
    - an administrator of the key can disable it or schedule its deletion, which makes the checkpoints
      unreadable;
    - lifecycle rules act without regard to the policy, but only administrators can set them. Access points,
      S3 Batch Operations and replication into the bucket act with some role's identity and meet the same
      denials;
    - names of objects can be listed by whoever IAM allows to list the bucket.

    ``add_writer`` and ``add_reader`` lift a denial and allow nothing; ``grant_checkpointing`` and
    ``grant_read`` do both.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        writers: Roles exempt from the denials of object writes and reads. None by default: nobody writes.
        readers: Roles exempt from the denial of object reads. None by default.
        administrators: Roles that may change the configuration, in addition to the role with which
            CloudFormation deploys the stack, as its synthesizer names it. Required where it names none, as
            ``CliCredentialsStackSynthesizer`` and ``LegacyStackSynthesizer`` do.
        kms_key: Key of the objects. Its policy must leave access to IAM, as the CDK's default does. Default:
            a key of its own, rotated every year and retained.
        bucket_name: Physical name in the global namespace; must begin with ``sagemaker-``. Default: a name in
            the account-regional namespace. Give one where the Region has no such namespace.
        access_log_bucket: Where requests are logged. Default: a bucket of its own.
        noncurrent_version_expiration: Age at which overwritten and deleted versions go. Default 14 days.

    Attributes:
        bucket: The bucket. Its L2 ``grant_*`` methods allow, but do not lift denials.
        key: Its key; None for an imported bucket without one.

    Raises:
        InvalidInputError: If nobody could change the bucket again, the name is illegal, a role's ARN is not
            that of one role, or a role of another stack has no physical name.
        RuntimeError: At synthesis, if the bucket's policy is longer than S3 accepts.
    """

    bucket: s3.IBucket
    key: kms.IKey | None
    _writers: tuple[iam.IRole, ...] = ()

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        writers: Sequence[iam.IRole] = (),
        readers: Sequence[iam.IRole] = (),
        administrators: Sequence[iam.IRole] | None = None,
        kms_key: kms.IKey | None = None,
        bucket_name: str | None = None,
        access_log_bucket: AccessLogBucket | None = None,
        noncurrent_version_expiration: Duration | None = None,
    ) -> None:
        super().__init__(scope, id)
        where = self.node.path
        refuse(
            [
                *check_kinds(writers, ROLE, (where, "writers"), required=True),
                *check_kinds(readers, ROLE, (where, "readers"), required=True),
                *check_kinds(administrators, ROLE, (where, "administrators")),
                *check_kind(kms_key, KEY, (where, "kms_key")),
            ]
        )
        self._locked = LockedBucket(
            self,
            "Resource",
            label="ckpt",
            lock_reads=True,
            noncurrent_version_expiration=(
                Duration.days(14) if noncurrent_version_expiration is None else noncurrent_version_expiration
            ),
            administrators=administrators,
            kms_key=kms_key,
            bucket_name=bucket_name,
            access_log_bucket=access_log_bucket,
        )
        self.bucket = self._locked.bucket
        self.key = self._locked.key
        for role in writers:
            self.add_writer(role)
        for role in readers:
            self.add_reader(role)

    @staticmethod
    def from_bucket(
        scope: Construct, id: str, *, bucket: s3.IBucket, kms_key: kms.IKey | None = None
    ) -> CheckpointBucket:
        """Use a bucket that exists already.

        Its policy stays its owner's: none of the denials is added, and nothing here keeps other writers out,
        so the boundary is whatever the bucket's policy and the account's identity policies make it. The
        warning ``hyperpod:CheckpointBucket.foreignBucket`` says so at synthesis. ``grant_checkpointing`` and
        ``grant_read`` allow the role its actions, pinned to the bucket's account; where the bucket has
        denials of its own, its owner has to exempt the role.

        Args:
            scope: Parent of the construct.
            id: Id within the parent.
            bucket: The bucket, such as ``s3.Bucket.from_bucket_name(...)``. Grants are pinned to
                ``bucket.env.account``.
            kms_key: Its key, if encrypted with SSE-KMS. Default: the key that ``bucket`` names itself, if
                any.
        """
        return _ForeignCheckpointBucket(scope, id, bucket=bucket, kms_key=kms_key)

    @property
    def writers(self) -> tuple[iam.IRole, ...]:
        """Roles that were made writers so far."""
        return self._writers

    def add_writer(self, role: iam.IRole) -> None:
        """Exempt a role from the denials of object writes and reads; it still needs permissions of its own.

        Args:
            role: On Slurm the nodes' execution role, on EKS a ``TrainingPodRole``. Of another stack: with a
                physical name.

        Raises:
            InvalidInputError: If the role is that of EKS nodes, or lives in another stack and has no physical
                name. A role whose use for EKS nodes does not show yet is refused at synthesis, by the
                ``HyperPodCluster`` that has it.
        """
        self._refuse_other_kinds(role)
        self._refuse_role_of_eks_nodes(role)
        self._locked.add_writer(role)
        self._writers += (role,)

    def add_reader(self, role: iam.IRole) -> None:
        """Exempt a role from the denial of object reads; it still needs permissions of its own.

        Args:
            role: Of another stack: with a physical name.

        Raises:
            InvalidInputError: If the role lives in another stack and has no physical name.
        """
        self._refuse_other_kinds(role)
        self._locked.add_reader(role)

    def add_administrator(self, role: iam.IRole) -> None:
        """Exempt a role from the denial of configuration changes; it still needs permissions of its own.

        Args:
            role: Of another stack: with a physical name.

        Raises:
            InvalidInputError: If the role lives in another stack and has no physical name.
        """
        self._refuse_other_kinds(role)
        self._locked.add_administrator(role)

    def grant_checkpointing(self, role: iam.IRole) -> iam.Grant:
        """Make a role a writer and allow it what the tiered checkpointing library does, and nothing more.

        The bucket's region and listing; reading, writing and deleting objects; the key through S3. All of it
        only as long as the bucket belongs to the expected account. Source: PyPI amzn-sagemaker-checkpointing
        1.1.3 and the developer guide's managed tiered checkpointing set-up.

        Args:
            role: A role of the bucket's account. On EKS the pods' role and never the nodes' role; on Slurm
                jobs have no other identity than the nodes' execution role.

        Raises:
            InvalidInputError: If the role is that of EKS nodes, belongs to another account, or to another
                stack without a physical name.
        """
        self._refuse_role_of_eks_nodes(role)
        refuse_foreign_role(self, role, self.bucket.env.account)
        self._exempt(role, writes=True)
        grant = allow_objects(
            self,
            role,
            bucket=self.bucket,
            key=self.key,
            access=CHECKPOINTING,
        )
        self._hold_back(role)
        return grant

    def let_existing_roles_checkpoint(self, roles: Sequence[iam.IRole]) -> None:
        """Allow roles that exist already what ``grant_checkpointing`` allows, by bucket and key policy.

        They become writers; the roles themselves are not changed, so that one call takes all of them.

        Args:
            roles: Roles of the bucket's account that this app does not make.

        Raises:
            InvalidInputError: If a role belongs to another account, or the bucket is imported.
        """
        for role in roles:
            self.add_writer(role)
        if self.key is not None:
            let_existing_roles_in(
                self,
                roles,
                bucket=self.bucket,
                key=self.key,
                access=CHECKPOINTING,
            )

    def let_existing_roles_read(self, roles: Sequence[iam.IRole]) -> None:
        """Allow roles that exist already what ``grant_read`` allows, by bucket and key policy.

        They become readers; the roles themselves are not changed, so that one call takes all of them.

        Args:
            roles: Roles of the bucket's account that this app does not make.

        Raises:
            InvalidInputError: If a role belongs to another account, or the bucket is imported.
        """
        for role in roles:
            self.add_reader(role)
        if self.key is not None:
            let_existing_roles_in(
                self,
                roles,
                bucket=self.bucket,
                key=self.key,
                access=READING,
                sid="ExistingReaders",
            )

    def grant_read(self, role: iam.IRole) -> iam.Grant:
        """Make a role a reader and allow it to list the bucket and get objects.

        Args:
            role: A role of the bucket's account, such as one that evaluates checkpoints.

        Raises:
            InvalidInputError: If the role belongs to another account, or to another stack without a physical
                name.
        """
        refuse_foreign_role(self, role, self.bucket.env.account)
        self._exempt(role, writes=False)
        grant = allow_objects(
            self,
            role,
            bucket=self.bucket,
            key=self.key,
            access=READING,
        )
        self._hold_back(role)
        return grant

    def _refuse_other_kinds(self, role: iam.IRole) -> None:
        refuse(check_kind(role, ROLE, (self.node.path, "role"), required=True))

    def _refuse_role_of_eks_nodes(self, role: iam.IRole) -> None:
        if getattr(role, "orchestrator", None) != "eks":
            return
        raise InvalidInputError(
            [
                Fault(
                    (self.node.path,),
                    f"cannot make '{role.node.path}' a writer: it is the role of EKS nodes, which every pod "
                    "on the host network works with; let a TrainingPodRole write checkpoints",
                )
            ]
        )

    def _exempt(self, role: iam.IRole, *, writes: bool) -> None:
        if writes:
            self.add_writer(role)
        else:
            self.add_reader(role)

    def _hold_back(self, role: iam.IRole) -> None:
        self._locked.hold_back(role)


class _ForeignCheckpointBucket(CheckpointBucket):
    def __init__(self, scope: Construct, id: str, *, bucket: s3.IBucket, kms_key: kms.IKey | None) -> None:
        Construct.__init__(self, scope, id)
        refuse(
            [
                *check_kind(bucket, BUCKET, (self.node.path, "bucket"), required=True),
                *check_kind(kms_key, KEY, (self.node.path, "kms_key")),
            ]
        )
        self.bucket = bucket
        self.key = bucket.encryption_key if kms_key is None else kms_key
        Annotations.of(self).add_warning_v2(
            FOREIGN_BUCKET_WARNING,
            "the policy of an imported checkpoint bucket is not this app's: nothing here denies writes to "
            "others, and whoever writes checkpoints runs code on the training nodes; make sure that its own "
            "policy lists the writers",
        )

    def add_writer(self, role: iam.IRole) -> None:
        self._refuse("writer", role)

    def add_reader(self, role: iam.IRole) -> None:
        self._refuse("reader", role)

    def add_administrator(self, role: iam.IRole) -> None:
        self._refuse("administrator", role)

    def _refuse(self, what: str, role: iam.IRole) -> None:
        raise InvalidInputError(
            [
                Fault(
                    (self.node.path,),
                    f"cannot list role '{role.node.path}' as {what}: the policy of an imported bucket is its "
                    "owner's; let the owner list it there",
                )
            ]
        )

    def _exempt(self, role: iam.IRole, *, writes: bool) -> None:
        if writes:
            self._writers += (role,)

    def _hold_back(self, role: iam.IRole) -> None:
        pass
