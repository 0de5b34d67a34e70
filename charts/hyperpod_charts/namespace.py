"""A namespace for jobs."""

from __future__ import annotations

from collections.abc import Mapping

from constructs import Construct

from hyperpod_charts.checked_arguments import check_choice, check_metadata, refuse_arguments
from hyperpod_charts.kubernetes_object import KubernetesObject
from hyperpod_model.catalog.kubernetes_platform import POD_SECURITY_LABEL, POD_SECURITY_LEVELS
from hyperpod_model.catalog.names import KUBERNETES_NAMESPACE

_KIND = "Namespace"


class Namespace(KubernetesObject):
    """A ``Namespace`` of ``v1``, whose pods get no rights on their nodes.

    HyperPod task governance makes the namespaces of teams, ``hyperpod-ns-<team>``, itself: have it make them
    before anything else does.

    Args:
        scope: Parent, within a ``cdk8s.Chart``.
        id: Id within the parent.
        name: Name of the namespace.
        pod_security: Pod security standard that is enforced. Default ``baseline``, which is all that plain
            training needs. Tiered checkpointing, whose logs are in a folder of the node, and jobs in the
            network of the nodes need ``privileged``. ``restricted`` refuses the pods of jobs, which do not
            say that they run without root: their image does.
        labels: Further labels. Default none.
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
        pod_security: str = "baseline",
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        refuse_arguments(
            f"{_KIND} {name!r}",
            [
                *check_metadata(
                    name=name,
                    namespace=None,
                    labels=labels,
                    annotations=annotations,
                    name_rule=KUBERNETES_NAMESPACE,
                ),
                *check_choice("pod_security", pod_security, POD_SECURITY_LEVELS),
            ],
        )
        super().__init__(
            scope,
            id,
            api_version="v1",
            kind=_KIND,
            name=name,
            labels={**({} if labels is None else labels), POD_SECURITY_LABEL: pod_security},
            annotations=annotations,
            body={},
        )
