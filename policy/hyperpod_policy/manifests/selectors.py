"""Which pods a label selector is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_policy.manifests.reading import items, mapping
from hyperpod_policy.manifests.training_jobs import TrainingJob

_KUBEFLOW_NAME: Final = "training.kubeflow.org/job-name"
_KUBEFLOW_REPLICAS: Final = "training.kubeflow.org/replica-type"


def selects_pods(selector: Any, job: TrainingJob) -> bool:
    """Tell whether a selector takes pods of a job; an empty one takes all.

    Args:
        selector: As decoded, with ``matchLabels`` and ``matchExpressions``.
        job: The job. Its pods have their own labels and, for Kubeflow, those that the operator gives them.
    """
    return any(_matches(mapping(selector), labels) for labels in _labels(job))


def _labels(job: TrainingJob) -> Iterator[dict[str, Any]]:
    for replicas in job.replicas:
        given = (
            {_KUBEFLOW_NAME: job.manifest.name, _KUBEFLOW_REPLICAS: replicas.name.lower()}
            if job.is_kubeflow
            else {}
        )
        yield {**replicas.pod.labels, **given}


def _matches(selector: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    wanted = mapping(selector.get("matchLabels"))
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _holds(expression, labels) for _, expression in items(selector.get("matchExpressions"))
    )


def _holds(expression: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    key, values = expression.get("key"), expression.get("values")
    listed = values if isinstance(values, list) else []
    match expression.get("operator"):
        case "In":
            return labels.get(str(key)) in listed
        case "NotIn":
            return labels.get(str(key)) not in listed
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False
