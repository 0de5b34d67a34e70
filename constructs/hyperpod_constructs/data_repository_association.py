"""A bucket whose objects a Lustre file system shows as files."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Annotations, Aws, CfnTag, Token
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import BUCKET, Kind, check_kind
from hyperpod_constructs.checkpoint_bucket import CheckpointBucket
from hyperpod_constructs.locked_bucket import LockedBucket
from hyperpod_constructs.lustre_file_system import FileSystemRemoval, LustreFileSystem
from hyperpod_constructs.role_identity import deployed_stack
from hyperpod_constructs.security_group_rules import reference_target
from hyperpod_constructs.tokens import known
from hyperpod_model.catalog.iam import bucket_key_via_service
from hyperpod_model.catalog.lustre import (
    ANY_FILE_SYSTEM_ID,
    DATA_REPOSITORY_EVENTS,
    DATA_REPOSITORY_EXPORT_KEY_ACTIONS,
    DATA_REPOSITORY_IMPORT_KEY_ACTIONS,
    data_repository_role,
)
from hyperpod_model.checks.data_repositories import (
    Link,
    check_data_repository,
    check_linked_file_system,
    check_overlap,
)
from hyperpod_model.faults import UNKNOWN, Fault

EXPORT_WARNING = "hyperpod:DataRepositoryAssociation.exportMakesUsersWriters"
FOREIGN_KEY_WARNING = "hyperpod:DataRepositoryAssociation.foreignKey"
FOREIGN_BUCKET_WARNING = "hyperpod:DataRepositoryAssociation.foreignBucketPolicy"

_FILE_SYSTEM = Kind(
    "file_system_id",
    "a LustreFileSystem, or fsx.LustreFileSystem.from_lustre_file_system_attributes(...)",
)


class DataRepositoryAssociation(Construct):
    """A link between a folder of a file system and a bucket: objects show as files, import only by default.

    FSx reads and writes the bucket as a service role of its own, ``AWSServiceRoleForFSxS3Access_fs-...``,
    which it makes with the first link of a file system. Nobody else can take that role, but whoever writes
    the file system has FSx write the bucket where there is export. Export to a ``CheckpointBucket`` would so
    make every user of the file system a writer of checkpoints, who runs code on the training nodes: it is
    refused unless ``export_makes_fsx_users_writers=True`` says that it is meant, which leaves the warning
    ``hyperpod:DataRepositoryAssociation.exportMakesUsersWriters``.

    What the bucket needs for the service role is added: exemptions from the denials of a ``CheckpointBucket``
    (reads; with import events the bucket's notifications, the only setting that the role's own policy lets it
    change; writes with export) and an allowance in the key's policy. The role does not exist before, so
    policies match ``aws:PrincipalArn`` instead of having it as a principal. They name this file system's
    role; where that would tie two stacks, or a key to a file system that it encrypts, in a circle, the roles
    of all file systems of the account, which the rule pack reports.

    A linked file system has no backups: FSx takes none. Make it with ``backup_retention_days=0`` and
    ``removal=FileSystemRemoval.RETAIN``. Sources: FSx for Lustre user guide, linking your file system to an
    S3 bucket, service-linked roles, and server-side encrypted buckets; FSx API reference, CreateBackup.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        file_system: The file system; one made elsewhere is taken as linkable.
        bucket: The bucket: a ``CheckpointBucket`` or any other one of this account. The bucket of
            ``LifecycleScripts`` is refused.
        file_system_path: Folder of the file system, such as ``/data``; ``/`` leaves no room for a second
            link. Folders of two links may not overlap. A change replaces the link.
        prefix: Beginning of the keys, such as ``corpus/``. Default: the whole bucket. A change replaces the
            link.
        import_events: Changes of objects that the file system follows: ``NEW``, ``CHANGED``, ``DELETED``.
            Default all.
        export_events: Changes of files that FSx writes to the bucket, as above. None by default: import only.
        import_metadata_on_create: Whether objects that are there already show as files from the beginning.
            Default: with import events. A change replaces the link.
        export_makes_fsx_users_writers: Whether export to a ``CheckpointBucket`` is meant. Default False.

    Attributes:
        data_repository_path: Bucket and prefix, such as ``s3://bucket/corpus/``.

    Raises:
        InvalidInputError: For settings that FSx does not take, or export that is not meant.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        file_system: fsx.IFileSystem | LustreFileSystem,
        bucket: s3.IBucket | CheckpointBucket,
        file_system_path: str,
        prefix: str = "",
        import_events: Sequence[str] = DATA_REPOSITORY_EVENTS,
        export_events: Sequence[str] = (),
        import_metadata_on_create: bool | None = None,
        export_makes_fsx_users_writers: bool = False,
    ) -> None:
        super().__init__(scope, id)
        self._label = f"data repository association '{self.node.path}'"
        kinds = check_kind(file_system, _FILE_SYSTEM, ("file_system",), required=True)
        if not isinstance(bucket, CheckpointBucket):
            kinds += check_kind(bucket, BUCKET, ("bucket",), required=True)
        refuse_arguments(self._label, kinds)
        plain = bucket.bucket if isinstance(bucket, CheckpointBucket) else bucket
        locked = self._lock_of(plain)
        if locked is not None:
            plain = locked.bucket
        guarded = locked is not None or isinstance(bucket, CheckpointBucket)
        found = check_data_repository(
            file_system_path=known(file_system_path),
            prefix=known(prefix),
            import_events=_each_known(import_events),
            export_events=_each_known(export_events),
            locked_bucket=guarded,
            export_makes_fsx_users_writers=export_makes_fsx_users_writers,
        )
        if isinstance(file_system, LustreFileSystem):
            found += [
                fault._replace(path=("file_system", *fault.path))
                for fault in check_linked_file_system(
                    deployment_type=known(file_system.deployment_type),
                    backup_retention_days=known(file_system.backup_retention_days),
                    final_backup=file_system.removal is FileSystemRemoval.FINAL_BACKUP,
                )
            ]
        for warning in refuse_arguments(self._label, found):
            Annotations.of(self).add_warning_v2(EXPORT_WARNING, str(warning))
        self.file_system = file_system
        self.file_system_path = file_system_path
        self.data_repository_path = _repository_path(plain, prefix)
        refuse_arguments(
            self._label,
            check_overlap(
                file_system_path=known(file_system_path),
                data_repository_path=self.data_repository_path,
                others=self._links_of_the_same_file_system(),
            ),
        )
        self._let_service_role_in(
            plain, locked, imports=bool(import_events), exports=bool(export_events), guarded=guarded
        )
        if isinstance(file_system, LustreFileSystem):
            # FSx refuses the option for a linked file system, whatever its value.
            file_system.file_system.add_property_deletion_override("LustreConfiguration.CopyTagsToBackups")
        if import_metadata_on_create is None:
            import_metadata_on_create = bool(import_events)
        self.association = fsx.CfnDataRepositoryAssociation(
            self,
            "Resource",
            file_system_id=file_system.file_system_id,
            file_system_path=file_system_path,
            data_repository_path=self.data_repository_path,
            batch_import_meta_data_on_create=import_metadata_on_create,
            s3=fsx.CfnDataRepositoryAssociation.S3Property(
                auto_import_policy=_import_policy(import_events),
                auto_export_policy=_export_policy(export_events),
            ),
            tags=[CfnTag(key="Name", value=self.node.path)],
        )
        for needed in (plain.policy, plain.encryption_key):
            if needed is not None:
                self.association.node.add_dependency(needed)

    @property
    def association_id(self) -> str:
        """Such as ``dra-0123456789abcdef0``."""
        return self.association.attr_association_id

    def _lock_of(self, bucket: s3.IBucket) -> LockedBucket | None:
        """The lock that a bucket is part of, also where somebody took the bucket out or imported it again."""
        around = [scope for scope in reversed(bucket.node.scopes) if isinstance(scope, LockedBucket)]
        if not around:
            around = [
                other
                for other in self.node.root.node.find_all()
                if isinstance(other, LockedBucket)
                # Not one whose arguments were refused.
                and hasattr(other, "bucket")
                and _is_import_of(other.bucket, bucket)
            ]
        if not around:
            return None
        if not isinstance(around[0].node.scope, CheckpointBucket):
            refuse_arguments(
                self._label,
                [
                    Fault(
                        ("bucket",),
                        f"must not be '{bucket.node.path}': what lies in it runs as root on every node, "
                        "and files are no lifecycle scripts; use another bucket",
                    )
                ],
            )
        return around[0]

    def _links_of_the_same_file_system(self) -> list[Link]:
        file_system_id = self.file_system.file_system_id
        return [
            Link(f"'{other.node.path}'", known(other.file_system_path), other.data_repository_path)
            for other in self.node.root.node.find_all()
            # Not itself and none that was refused. A reference is the same token whoever asks for it.
            if isinstance(other, DataRepositoryAssociation)
            and hasattr(other, "association")
            and other.file_system.file_system_id == file_system_id
        ]

    def _let_service_role_in(
        self,
        bucket: s3.IBucket,
        locked: LockedBucket | None,
        *,
        imports: bool,
        exports: bool,
        guarded: bool,
    ) -> None:
        role_arn = self._service_role_arn(bucket)
        if locked is not None:
            locked.add_service_role(role_arn, writes=exports, configures=imports)
        elif guarded:
            Annotations.of(self).add_warning_v2(
                FOREIGN_BUCKET_WARNING,
                f"the policy of the imported bucket '{bucket.node.path}' is its owner's; where it lists its "
                f"readers, make sure that it lists the role {data_repository_role(ANY_FILE_SYSTEM_ID)}",
            )
        key = bucket.encryption_key
        if key is None:
            return
        actions = DATA_REPOSITORY_EXPORT_KEY_ACTIONS if exports else DATA_REPOSITORY_IMPORT_KEY_ACTIONS
        result = key.add_to_resource_policy(
            iam.PolicyStatement(
                # A role that does not exist yet cannot be a principal.
                principals=[iam.AnyPrincipal()],
                actions=list(actions),
                resources=["*"],
                conditions={
                    "ArnLike": {"aws:PrincipalArn": role_arn},
                    "StringEquals": {"kms:CallerAccount": Aws.ACCOUNT_ID},
                    "StringLike": {"kms:ViaService": bucket_key_via_service(bucket.env.region)},
                },
            )
        )
        if not result.statement_added:
            Annotations.of(self).add_warning_v2(
                FOREIGN_KEY_WARNING,
                f"the policy of the imported key '{key.node.path}' cannot be changed here; make sure that "
                f"the role {data_repository_role(ANY_FILE_SYSTEM_ID)} may use it ({', '.join(actions)})",
            )

    def _service_role_arn(self, bucket: s3.IBucket) -> str:
        file_system_id = self.file_system.file_system_id
        if Token.is_unresolved(file_system_id) and not self._may_name_file_system(bucket):
            file_system_id = ANY_FILE_SYSTEM_ID
        return f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:{data_repository_role(file_system_id)}"

    def _may_name_file_system(self, bucket: s3.IBucket) -> bool:
        """Whether the policies of bucket and key may depend on the file system."""
        file_system, key = self.file_system, bucket.encryption_key
        if not isinstance(file_system, LustreFileSystem):
            return False
        if deployed_stack(file_system).node.path != deployed_stack(bucket).node.path:
            return False
        own_key = file_system.key
        return key is None or own_key is None or own_key.node.path != key.node.path


def _is_import_of(made: s3.IBucket, bucket: s3.IBucket) -> bool:
    resource = reference_target(made.bucket_name)
    targets = (reference_target(bucket.bucket_name), reference_target(bucket.bucket_arn))
    if resource is None:
        return False
    if any(target is not None and target.node.path == resource.node.path for target in targets):
        return True
    name = resource.bucket_name if isinstance(resource, s3.CfnBucket) else None
    return name is not None and bool(name == bucket.bucket_name)


def _each_known(events: Sequence[str]) -> Sequence[object]:
    if not isinstance(events, list | tuple):
        return events
    return [UNKNOWN] if Token.is_unresolved(list(events)) else [known(event) for event in events]


def _repository_path(bucket: s3.IBucket, prefix: str) -> str:
    if not Token.is_unresolved(prefix):
        prefix = f"{prefix.rstrip('/')}/" if prefix else ""
    return f"s3://{bucket.bucket_name}/{prefix}" if prefix else f"s3://{bucket.bucket_name}"


def _import_policy(
    events: Sequence[str],
) -> fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty | None:
    if not events:
        return None
    return fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty(events=list(events))


def _export_policy(
    events: Sequence[str],
) -> fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty | None:
    if not events:
        return None
    return fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty(events=list(events))
