"""A claim on a volume, which pods mount by its name."""

from __future__ import annotations

from collections.abc import Mapping

from constructs import Construct

from hyperpod_charts.checked_arguments import (
    check_at_least,
    check_given,
    check_metadata,
    check_name,
    refuse_arguments,
)
from hyperpod_charts.kubernetes_object import KubernetesObject, given

_KIND = "PersistentVolumeClaim"


class PersistentVolumeClaim(KubernetesObject):
    """A ``PersistentVolumeClaim`` of ``v1`` that many pods read and write.

    Args:
        scope: Parent, within a ``cdk8s.Chart``.
        id: Id within the parent.
        name: Name of the claim.
        namespace: Its namespace, which must be that of the pods. Default that of the chart.
        storage_gib: What is asked for in GiB.
        storage_class_name: Class that makes the volume; ``""`` for a volume that exists. None is refused by
            nobody and means the cluster's default class, a disk for one node: say what is meant.
        volume_name: The one volume that it takes. Default any that fits.
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
        namespace: str | None = None,
        storage_gib: int,
        storage_class_name: str,
        volume_name: str | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        refuse_arguments(
            f"{_KIND} {name!r}",
            [
                *check_metadata(name=name, namespace=namespace, labels=labels, annotations=annotations),
                *(check_name("storage_class_name", storage_class_name) if storage_class_name else []),
                *check_name("volume_name", volume_name),
                *check_given("storage_gib", storage_gib),
                *check_at_least("storage_gib", storage_gib, 1, becomes_text=True),
            ],
        )
        super().__init__(
            scope,
            id,
            api_version="v1",
            kind=_KIND,
            name=name,
            namespace=namespace,
            labels=labels,
            annotations=annotations,
            body={
                "spec": {
                    "accessModes": ["ReadWriteMany"],
                    "storageClassName": storage_class_name,
                    **given(volumeName=volume_name),
                    "resources": {"requests": {"storage": f"{storage_gib}Gi"}},
                }
            },
        )
