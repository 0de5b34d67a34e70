"""An existing file system as a volume of the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from constructs import Construct

from hyperpod_charts.checked_arguments import (
    check_at_least,
    check_given,
    check_metadata,
    check_name,
    refuse_arguments,
)
from hyperpod_charts.kubernetes_object import KubernetesObject, given
from hyperpod_model.catalog.names import KUBERNETES_NAMESPACE

_KIND = "PersistentVolume"
NO_STORAGE_CLASS: Final = ""
"""Else a cluster's default class makes a disk in place of taking the volume."""


class PersistentVolume(KubernetesObject):
    """A ``PersistentVolume`` of ``v1`` that many pods read and write, and that Kubernetes never deletes.

    It belongs to the cluster, not to a namespace, and to one claim: each namespace needs its own volume of
    the same file system.

    Args:
        scope: Parent, within a ``cdk8s.Chart``.
        id: Id within the parent.
        name: Name of the volume, of which there is one in the cluster.
        driver: CSI driver.
        volume_handle: What the driver knows it by. No two volumes of a cluster may have the same: Kubernetes
            takes them for one when both are on a node.
        volume_attributes: What else the driver needs.
        capacity_gib: Its size in GiB. Claims are matched by it; nothing limits anybody to it.
        mount_options: Default none.
        claim_name: The one claim that may have it. Default any claim.
        claim_namespace: Namespace of that claim.
        labels: Labels. Default none.
        annotations: Annotations. Default none.

    Raises:
        InvalidInputError: With all that Kubernetes would refuse.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        driver: str,
        volume_handle: str,
        volume_attributes: Mapping[str, str],
        capacity_gib: int,
        mount_options: Sequence[str] = (),
        claim_name: str | None = None,
        claim_namespace: str | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        refuse_arguments(
            f"{_KIND} {name!r}",
            [
                *check_metadata(name=name, namespace=None, labels=labels, annotations=annotations),
                *check_name("claim_name", claim_name),
                *check_name("claim_namespace", claim_namespace, KUBERNETES_NAMESPACE),
                *check_given("capacity_gib", capacity_gib),
                *check_at_least("capacity_gib", capacity_gib, 1, becomes_text=True),
            ],
        )
        super().__init__(
            scope,
            id,
            api_version="v1",
            kind=_KIND,
            name=name,
            labels=labels,
            annotations=annotations,
            body={
                "spec": {
                    "capacity": {"storage": f"{capacity_gib}Gi"},
                    "volumeMode": "Filesystem",
                    "accessModes": ["ReadWriteMany"],
                    "persistentVolumeReclaimPolicy": "Retain",
                    "storageClassName": NO_STORAGE_CLASS,
                    **given(
                        mountOptions=list(mount_options),
                        claimRef=given(namespace=claim_namespace, name=claim_name),
                    ),
                    "csi": {
                        "driver": driver,
                        "volumeHandle": volume_handle,
                        "volumeAttributes": dict(volume_attributes),
                    },
                }
            },
        )
