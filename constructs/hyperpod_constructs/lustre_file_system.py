"""A shared file system for data, code and checkpoints of all nodes."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import jsii
from aws_cdk import Aws, CfnDeletionPolicy, CfnResource, CfnTag, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import KEY, SECURITY_GROUP, SUBNET, VPC, check_kind, check_kinds
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.inline_handler import InlineHandler, resource_arn
from hyperpod_constructs.lustre_rules import allow_between, allow_within
from hyperpod_constructs.rotating_key import rotating_key
from hyperpod_constructs.security_group_rules import reference_target
from hyperpod_constructs.tokens import known
from hyperpod_model.catalog.lustre import (
    DEFAULT_DEPLOYMENT_TYPE,
    DEPLOYMENT_TYPES,
    FILE_SYSTEM_TYPE_VERSION,
)
from hyperpod_model.catalog.ports import LUSTRE
from hyperpod_model.checks.addresses import file_system_addresses
from hyperpod_model.checks.lustre import check_lustre
from hyperpod_model.faults import Fault

_DEFAULT_BACKUP_RETENTION_DAYS = 7
_LONGEST_LAMBDA_RUN_SECONDS = 900


class FileSystemRemoval(Enum):
    """What becomes of the data when the file system leaves its stack.

    Either way a file system that CloudFormation *replaces* (another subnet, key or version) is kept beside
    the new one, and so is the KMS key that this library made.
    """

    RETAIN = "retain"
    """The file system stays, with all that it needs to stay mountable.

    That is its security group with the rules among its servers, its key, and the subnet and VPC where this
    app has them. Rules for its clients, routes and network ACL go. It costs what it cost before, until
    somebody deletes it. A file system whose own creation is rolled back is empty, and is deleted.
    """

    FINAL_BACKUP = "final-backup"
    """A backup is taken, and only when it is complete the file system is deleted.

    The backup and the key remain; automatic backups go with the file system. FSx itself takes no final backup
    of Lustre when CloudFormation deletes one (the API's default is to skip it), so a custom resource does. It
    waits up to 48 minutes; if a backup takes longer, the deletion fails with everything in place, and the
    next attempt only adds what has changed since.
    """

    @classmethod
    def of(cls, value: str) -> FileSystemRemoval:
        """The removal that a specification names.

        Args:
            value: ``retain`` or ``final-backup``.

        Raises:
            ValueError: For another value.
        """
        return cls(value)


@jsii.implements(ec2.IConnectable)
class LustreFileSystem(Construct):
    """An FSx for Lustre file system on SSD, encrypted with a key of its own, closed to all but its clients.

    Its security group opens TCP 988 and 1018-1023 between itself and the clients, in both directions, and
    among its own servers. FSx checks the rules when it creates the file system, so the file system waits for
    every one of them, those added later in the app included. Source: FSx for Lustre user guide, file system
    access control.

    With ``efa_enabled`` all traffic is open between file system and clients, as EFA needs. Synthesis then
    refuses any other client, since the exception in the clients' closed ports would reach further (see
    ``EfaSecurityGroup``).

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        vpc: The network.
        subnet: The subnet of the nodes: data crosses no zone, and no network ACL.
        client_security_groups: Groups of the nodes that mount it; ``allow_from`` adds more.
        storage_capacity_gib: Storage capacity in GiB: 1200, or a multiple of 2400; with EFA larger steps, by
            throughput. It can grow, six hours after it last did, and never shrink.
        throughput_mbps_per_tib: Throughput in MB/s for each TiB of storage: 125, 250, 500 or 1000 for
            ``PERSISTENT_2``. None for scratch types only.
        deployment_type: Default ``PERSISTENT_2``. ``PERSISTENT_1``, ``SCRATCH_1`` or ``SCRATCH_2`` otherwise.
        efa_enabled: Whether nodes with EFA reach it through EFA. Default False. Cannot be changed later.
        data_compression_type: ``LZ4`` by default, or ``NONE``.
        backup_retention_days: Days that daily automatic backups are kept, 0 to 90. Default 7 where the
            deployment type has backups, else 0. They are deleted together with the file system.
        kms_key: Key for data at rest and for backups, which it must outlive. Default a new one with rotation,
            which outlives the stack. Scratch types take none.
        removal: What becomes of the data when the file system leaves the stack. Default ``FINAL_BACKUP``,
            which scratch types refuse: they have no backups.

    Raises:
        InvalidInputError: For settings that FSx does not take together.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        client_security_groups: Sequence[ec2.ISecurityGroup] = (),
        storage_capacity_gib: int,
        throughput_mbps_per_tib: int | None = None,
        deployment_type: str = DEFAULT_DEPLOYMENT_TYPE,
        efa_enabled: bool = False,
        data_compression_type: str = "LZ4",
        backup_retention_days: int | None = None,
        kms_key: kms.IKey | None = None,
        removal: FileSystemRemoval = FileSystemRemoval.FINAL_BACKUP,
    ) -> None:
        super().__init__(scope, id)
        chosen = DEPLOYMENT_TYPES.get(deployment_type)
        if backup_retention_days is None:
            backup_retention_days = _DEFAULT_BACKUP_RETENTION_DAYS if chosen is None or chosen.backups else 0
        kinds = [
            *check_kind(vpc, VPC, ("vpc",), required=True),
            *check_kind(subnet, SUBNET, ("subnet",), required=True),
            *check_kinds(client_security_groups, SECURITY_GROUP, ("client_security_groups",), required=True),
            *check_kind(kms_key, KEY, ("kms_key",)),
        ]
        # A text or a RemovalPolicy would pass for the other removal, the one that deletes.
        if not isinstance(removal, FileSystemRemoval):
            names = " or ".join(str(choice) for choice in FileSystemRemoval)
            kinds.append(Fault(("removal",), f"must be {names}, got {removal!r}"))
        refuse_arguments(f"file system '{self.node.path}'", kinds)
        refuse_arguments(
            f"file system '{self.node.path}'",
            check_lustre(
                deployment_type=known(deployment_type),
                storage_capacity_gib=known(storage_capacity_gib),
                throughput_mbps_per_tib=known(throughput_mbps_per_tib),
                backup_retention_days=known(backup_retention_days),
                final_backup=removal is FileSystemRemoval.FINAL_BACKUP,
                encryption_key=kms_key is not None,
                efa_enabled=efa_enabled,
                data_compression_type=known(data_compression_type),
            ),
        )
        self._efa_enabled = efa_enabled
        self.deployment_type = deployment_type
        """Such as ``PERSISTENT_2``."""
        self.backup_retention_days = backup_retention_days
        """Days that automatic backups are kept; 0 for none."""
        self.removal = removal
        """What becomes of the data when the file system leaves its stack."""
        self.addresses = file_system_addresses(known(storage_capacity_gib))
        """Addresses that it takes in the subnet, estimated on the safe side."""
        self.key: kms.IKey | None = kms_key
        if kms_key is None and (chosen is None or chosen.encryption_key):
            self.key = rotating_key(self, "Key", description=f"Data at rest of {self.node.path}")
        self.security_group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            allow_all_outbound=False,
            disable_inline_rules=False,
            description="FSx for Lustre: its clients and its own servers",
        )
        within = allow_within(self.security_group, all_traffic=efa_enabled)
        self._connections = ec2.Connections(
            security_groups=[self.security_group],
            default_port=ec2.Port.tcp_range(LUSTRE[0].first, LUSTRE[-1].last),
        )
        self.file_system = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=FILE_SYSTEM_TYPE_VERSION,
            storage_type="SSD",
            storage_capacity=storage_capacity_gib,
            subnet_ids=[subnet.subnet_id],
            security_group_ids=[self.security_group.security_group_id],
            kms_key_id=None if self.key is None else self.key.key_arn,
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type=deployment_type,
                per_unit_storage_throughput=throughput_mbps_per_tib,
                data_compression_type=data_compression_type,
                **_backups(backup_retention_days, has_backups=chosen is None or chosen.backups),
                **_efa(enabled=efa_enabled),
            ),
            tags=[CfnTag(key="Name", value=self.node.path)],
        )
        self.file_system.node.add_dependency(self.security_group)
        for group in client_security_groups:
            self.allow_from(group)
        self.file_system.cfn_options.update_replace_policy = CfnDeletionPolicy.RETAIN
        if removal is FileSystemRemoval.RETAIN:
            self._retain(vpc, subnet, within)
        else:
            self.file_system.cfn_options.deletion_policy = CfnDeletionPolicy.DELETE
            self._back_up_before_deletion()

    @property
    def connections(self) -> ec2.Connections:
        """Connections of the security group. The default port spans 988 to 1023: prefer ``allow_from``."""
        return self._connections

    @property
    def file_system_id(self) -> str:
        """Such as ``fs-0123456789abcdef0``."""
        return self.file_system.ref

    @property
    def dns_name(self) -> str:
        """DNS name that nodes mount, in the stack's region and partition."""
        return f"{self.file_system.ref}.fsx.{Aws.REGION}.{Aws.URL_SUFFIX}"

    @property
    def mount_name(self) -> str:
        """Name after the colon of the mount source, such as ``fsx`` or eight random characters."""
        return self.file_system.attr_lustre_mount_name

    def allow_from(self, client_security_group: ec2.ISecurityGroup) -> None:
        """Let the members of a group mount the file system; its creation waits for the rules.

        Args:
            client_security_group: Group of the nodes. An ``EfaSecurityGroup`` keeps its guard.
        """
        if isinstance(client_security_group, EfaSecurityGroup) and self._efa_enabled:
            rules = client_security_group.allow_efa_lustre(self.security_group)
        elif isinstance(client_security_group, EfaSecurityGroup):
            rules = client_security_group.allow_lustre(self.security_group)
        else:
            rules = allow_between(client_security_group, self.security_group, all_traffic=self._efa_enabled)
        self.file_system.node.add_dependency(rules)

    def _retain(self, vpc: ec2.IVpc, subnet: ec2.ISubnet, within: Construct) -> None:
        group = self.security_group.node.default_child
        network = [reference_target(vpc.vpc_id), reference_target(subnet.subnet_id)]
        ranges = [child for child in vpc.node.find_all() if isinstance(child, ec2.CfnVPCCidrBlock)]
        for needed in (self.file_system, group, *within.node.find_all(), *network, *ranges):
            if isinstance(needed, CfnResource):
                # Not where its own creation is rolled back: empty, it would only cost.
                needed.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)

    def _back_up_before_deletion(self) -> None:
        statements: list[dict[str, Any]] = [
            {
                "Sid": "BackUp",
                "Effect": "Allow",
                "Action": "fsx:CreateBackup",
                "Resource": [
                    resource_arn("fsx", f"file-system/{self.file_system.ref}"),
                    resource_arn("fsx", "backup/*"),
                ],
            },
            {
                "Sid": "FollowBackup",
                "Effect": "Allow",
                "Action": "fsx:DescribeBackups",
                "Resource": resource_arn("fsx", "backup/*"),
            },
            {
                "Sid": "NameBackup",
                "Effect": "Allow",
                "Action": "fsx:TagResource",
                "Resource": resource_arn("fsx", "backup/*"),
            },
        ]
        if self.key is not None:
            # Documented for file systems, not for backups: a need for it would show at deletion, too late.
            statements.append(
                {
                    "Sid": "KeepBackupReadable",
                    "Effect": "Allow",
                    "Action": ["kms:CreateGrant", "kms:DescribeKey"],
                    "Resource": self.key.key_arn,
                    "Condition": {"StringLike": {"kms:ViaService": f"fsx.{Aws.REGION}.*"}},
                }
            )
        handler = InlineHandler(
            self,
            "FinalBackupHandler",
            handler="back_up_file_system",
            description="Backs a Lustre file system up before its stack deletes it",
            timeout_seconds=_LONGEST_LAMBDA_RUN_SECONDS,
            statements=statements,
        )
        handler.custom_resource(
            self,
            "FinalBackup",
            resource_type="Custom::FinalBackup",
            properties={"FileSystemId": self.file_system.ref},
        )


def _backups(retention_days: int, *, has_backups: bool) -> dict[str, Any]:
    if not has_backups:
        return {}
    return {"automatic_backup_retention_days": retention_days, "copy_tags_to_backups": True}


def _efa(*, enabled: bool) -> dict[str, Any]:
    if not enabled:
        return {}
    metadata = fsx.CfnFileSystem.MetadataConfigurationProperty(mode="AUTOMATIC")
    return {"efa_enabled": True, "metadata_configuration": metadata}
