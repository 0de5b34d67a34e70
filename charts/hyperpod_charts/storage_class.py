"""How volumes are made for claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constructs import Construct

from hyperpod_charts.checked_arguments import check_choice, check_metadata, refuse_arguments
from hyperpod_charts.kubernetes_object import KubernetesObject, given

_KIND = "StorageClass"
_RECLAIM_POLICIES = ("Retain", "Delete")


class StorageClass(KubernetesObject):
    """A ``StorageClass`` of ``storage.k8s.io/v1``.

    Args:
        scope: Parent, within a ``cdk8s.Chart``.
        id: Id within the parent.
        name: Name of the class, of which there is one in the cluster.
        provisioner: CSI driver.
        parameters: What the driver is told, all as text.
        mount_options: Default none.
        reclaim_policy: What becomes of a volume and its data when the claim is deleted. Default ``Retain``.
            ``Delete`` deletes both, which is Kubernetes' own default.
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
        provisioner: str,
        parameters: Mapping[str, str],
        mount_options: Sequence[str] = (),
        reclaim_policy: str = "Retain",
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        refuse_arguments(
            f"{_KIND} {name!r}",
            [
                *check_metadata(name=name, namespace=None, labels=labels, annotations=annotations),
                *check_choice("reclaim_policy", reclaim_policy, _RECLAIM_POLICIES),
            ],
        )
        super().__init__(
            scope,
            id,
            api_version="storage.k8s.io/v1",
            kind=_KIND,
            name=name,
            labels=labels,
            annotations=annotations,
            body=given(
                provisioner=provisioner,
                parameters=dict(parameters),
                mountOptions=list(mount_options),
                reclaimPolicy=reclaim_policy,
            ),
        )
