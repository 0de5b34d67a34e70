"""How many pods of a job drains of nodes leave."""

from __future__ import annotations

from collections.abc import Mapping

from constructs import Construct

from hyperpod_charts.checked_arguments import (
    check_at_least,
    check_labels,
    check_metadata,
    refuse_arguments,
)
from hyperpod_charts.kubernetes_object import KubernetesObject

_KIND = "PodDisruptionBudget"


class PodDisruptionBudget(KubernetesObject):
    """A ``PodDisruptionBudget`` of ``policy/v1``.

    A whole number of pods that stay is the one form that counts for pods of every operator: of another, or a
    percentage, Kubernetes needs to know the job's size from the job's own kind. Source: Kubernetes docs,
    disruption budgets, arbitrary workloads. It holds for evictions, such as draining a node, and not when
    HyperPod replaces a faulty node.

    Args:
        scope: Parent, within a ``cdk8s.Chart``.
        id: Id within the parent.
        name: Name of the budget.
        namespace: Its namespace. Default that of the chart.
        pod_labels: Labels of the pods, such as ``member_labels`` of a job.
        min_available: Pods that stay. As many as the job has would block each drain until the job is over.
        labels: Labels of the budget. Default none.
        annotations: Annotations of the budget. Default none.

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
        pod_labels: Mapping[str, str],
        min_available: int,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        refuse_arguments(
            f"{_KIND} {name!r}",
            [
                *check_metadata(name=name, namespace=namespace, labels=labels, annotations=annotations),
                *check_labels("pod_labels", pod_labels, required=True),
                *check_at_least("min_available", min_available, 1),
            ],
        )
        super().__init__(
            scope,
            id,
            api_version="policy/v1",
            kind=_KIND,
            name=name,
            namespace=namespace,
            labels=labels,
            annotations=annotations,
            body={
                "spec": {
                    "minAvailable": min_available,
                    "selector": {"matchLabels": dict(pod_labels)},
                }
            },
        )
