"""FSx for Lustre for pods: a file system that exists, or one that is made for a claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from constructs import Construct

from hyperpod_charts.checked_arguments import check_name, known, refuse_arguments
from hyperpod_charts.persistent_volume import NO_STORAGE_CLASS, PersistentVolume
from hyperpod_charts.persistent_volume_claim import PersistentVolumeClaim
from hyperpod_charts.storage_class import StorageClass
from hyperpod_model.catalog.kubernetes_platform import (
    LUSTRE_DNS_NAME_ATTRIBUTE,
    LUSTRE_DRIVER,
    LUSTRE_MOUNT_NAME_ATTRIBUTE,
    LUSTRE_MOUNT_OPTIONS,
    LUSTRE_PARAMETERS,
)
from hyperpod_model.catalog.lustre import DEFAULT_DEPLOYMENT_TYPE, FILE_SYSTEM_TYPE_VERSION
from hyperpod_model.catalog.names import (
    KUBERNETES_NAMESPACE,
    LUSTRE_DNS_NAME,
    LUSTRE_MOUNT_NAME,
    SECURITY_GROUP_ID,
    SUBNET_ID,
    NameRule,
)
from hyperpod_model.checks.lustre import check_lustre
from hyperpod_model.faults import UNKNOWN, Fault

_ANY_SIZE_GIB: Final = 1
"""Kubernetes lets nobody change the size of a claim on such a volume, while the file system may grow."""


class LustreVolume(Construct):
    """A file system that exists, as a volume and the one claim on it.

    Everything is an output of ``HyperPodStack`` or an attribute of ``LustreFileSystem``. Deleting the claim,
    the volume or the namespace leaves the file system alone. Another file system needs another claim, since
    a volume is of one file system for good. The claim asks for 1 GiB, which limits nobody.

    Attributes:
        volume: The volume, which belongs to the whole cluster.
        claim: The claim, which pods mount by its name.

    Args:
        scope: Parent, within a ``cdk8s.Chart``.
        id: Id within the parent.
        claim_name: Name of the claim, such as ``fsx``.
        namespace: Namespace of the claim, which must be that of the jobs.
        file_system_id: Such as ``fs-0123456789abcdef0``.
        dns_name: Such as ``fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com``.
        mount_name: Such as ``abcdefgh``.
        storage_capacity_gib: Size of the file system in GiB.

    Raises:
        InvalidInputError: With all that Kubernetes would refuse, and with what is no file system's.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        claim_name: str,
        namespace: str,
        file_system_id: str,
        dns_name: str,
        mount_name: str,
        storage_capacity_gib: int,
    ) -> None:
        refuse_arguments(
            f"Lustre volume {claim_name!r}",
            [
                *check_name("claim_name", claim_name),
                *check_name("namespace", namespace, KUBERNETES_NAMESPACE),
                *_check("dns_name", dns_name, LUSTRE_DNS_NAME),
                *_check("mount_name", mount_name, LUSTRE_MOUNT_NAME),
                *_check_belongs(file_system_id, dns_name),
            ],
        )
        super().__init__(scope, id)
        volume_name = f"{namespace}-{claim_name}"
        self.volume = PersistentVolume(
            self,
            "Volume",
            name=volume_name,
            driver=LUSTRE_DRIVER,
            volume_handle=file_system_id,
            volume_attributes={
                LUSTRE_DNS_NAME_ATTRIBUTE: dns_name,
                LUSTRE_MOUNT_NAME_ATTRIBUTE: mount_name,
            },
            capacity_gib=storage_capacity_gib,
            mount_options=LUSTRE_MOUNT_OPTIONS,
            claim_name=claim_name,
            claim_namespace=namespace,
        )
        self.claim = PersistentVolumeClaim(
            self,
            "Claim",
            name=claim_name,
            namespace=namespace,
            storage_gib=_ANY_SIZE_GIB,
            storage_class_name=NO_STORAGE_CLASS,
            volume_name=volume_name,
        )


class DynamicLustreVolume(Construct):
    """A class by which the FSx driver makes file systems, and a claim that has it make one.

    The driver's role must be allowed to make file systems, and the security group must let the nodes in:
    ``LustreFileSystem`` and :class:`LustreVolume` see to both themselves.

    Attributes:
        storage_class: The class.
        claim: The claim.

    Args:
        scope: Parent, within a ``cdk8s.Chart``.
        id: Id within the parent.
        claim_name: Name of the claim, and of the class after the namespace.
        namespace: Namespace of the claim, which must be that of the jobs.
        subnet_id: Subnet of the nodes, so that data crosses no zone.
        security_group_ids: Groups of the file system.
        storage_capacity_gib: Size of the file system in GiB.
        throughput_mbps_per_tib: Throughput in MB/s for each TiB. None for scratch types only.
        deployment_type: Default ``PERSISTENT_2``.
        data_compression_type: Default ``LZ4``.
        backup_retention_days: Days that daily backups are kept. Default 0: none.
        kms_key_id: ARN of the key for data at rest. Default a key of the service.
        reclaim_policy: What becomes of the file system when the claim is deleted. Default ``Retain``.

    Raises:
        InvalidInputError: With all that FSx or Kubernetes would refuse.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        claim_name: str,
        namespace: str,
        subnet_id: str,
        security_group_ids: Sequence[str],
        storage_capacity_gib: int,
        throughput_mbps_per_tib: int | None,
        deployment_type: str = DEFAULT_DEPLOYMENT_TYPE,
        data_compression_type: str = "LZ4",
        backup_retention_days: int = 0,
        kms_key_id: str | None = None,
        reclaim_policy: str = "Retain",
    ) -> None:
        refuse_arguments(
            f"dynamic Lustre volume {claim_name!r}",
            [
                *check_name("claim_name", claim_name),
                *check_name("namespace", namespace, KUBERNETES_NAMESPACE),
                *_check("subnet_id", subnet_id, SUBNET_ID),
                *_check_groups(security_group_ids),
                *check_lustre(
                    deployment_type=deployment_type,
                    storage_capacity_gib=storage_capacity_gib,
                    throughput_mbps_per_tib=throughput_mbps_per_tib,
                    backup_retention_days=backup_retention_days,
                    encryption_key=kms_key_id is not None,
                    data_compression_type=data_compression_type,
                ),
            ],
        )
        super().__init__(scope, id)
        class_name = f"{namespace}-{claim_name}"
        values = {
            "subnet_id": subnet_id,
            "security_group_ids": ",".join(security_group_ids),
            "deployment_type": deployment_type,
            "throughput_mbps_per_tib": throughput_mbps_per_tib,
            "data_compression_type": data_compression_type,
            "backup_retention_days": backup_retention_days if backup_retention_days > 0 else None,
            "kms_key_id": kms_key_id,
            "file_system_type_version": FILE_SYSTEM_TYPE_VERSION,
        }
        self.storage_class = StorageClass(
            self,
            "Class",
            name=class_name,
            provisioner=LUSTRE_DRIVER,
            parameters={
                LUSTRE_PARAMETERS[name]: str(value) for name, value in values.items() if value is not None
            },
            mount_options=LUSTRE_MOUNT_OPTIONS,
            reclaim_policy=reclaim_policy,
        )
        self.claim = PersistentVolumeClaim(
            self,
            "Claim",
            name=claim_name,
            namespace=namespace,
            storage_gib=storage_capacity_gib,
            storage_class_name=class_name,
        )


def _check(argument: str, value: str, rule: NameRule) -> list[Fault]:
    if known(value) is UNKNOWN or rule.matches(value):
        return []
    return [Fault((argument,), f"must be {rule.in_words}, got {value!r}")]


def _check_belongs(file_system_id: str, dns_name: str) -> list[Fault]:
    """The driver mounts by the name and checks neither against the other."""
    if UNKNOWN in (known(file_system_id), known(dns_name)) or dns_name.startswith(f"{file_system_id}."):
        return []
    return [
        Fault(("dns_name",), f"must be that of the file system {file_system_id!r}, got {dns_name!r}"),
    ]


def _check_groups(ids: Sequence[str]) -> list[Fault]:
    if isinstance(ids, str) or not ids:
        return [Fault(("security_group_ids",), f"must be a list of one or more, got {ids!r}")]
    return [
        fault._replace(path=("security_group_ids", index))
        for index, id in enumerate(ids)
        for fault in _check("", id, SECURITY_GROUP_ID)
    ]
