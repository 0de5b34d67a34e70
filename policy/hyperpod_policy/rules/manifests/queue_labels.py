"""A job's queue, priority and namespace belong to one team."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.catalog.jobs import (
    PRIORITY_LABEL,
    QUEUE_LABEL,
    TEAM_NAMESPACE_PREFIX,
    team_queue,
    workload_priority,
)
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import is_deferred, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_QUEUE_END = team_queue("").removeprefix(TEAM_NAMESPACE_PREFIX)
_PRIORITY_END = workload_priority("")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the labels of each training job in a team's namespace or with a team's queue."""
    for job in training_jobs(manifests):
        findings = [
            finding
            for path, labels in _places(job)
            for finding in _faults(job, path, labels, is_job=path[0] == "metadata")
        ]
        queue = job.labels.get(QUEUE_LABEL)
        if findings:
            yield from findings
        elif _team_of(job.manifest.namespace) is not None or _queue_team(queue) is not None:
            yield passed(job.manifest, "metadata", "labels")


def _places(job: TrainingJob) -> Iterator[tuple[FaultPath, Mapping[str, Any]]]:
    yield ("metadata", "labels"), job.labels
    for pod in job.pods():
        yield (*pod.path, "metadata", "labels"), pod.labels


def _faults(
    job: TrainingJob, path: FaultPath, labels: Mapping[str, Any], *, is_job: bool
) -> Iterator[ManifestVerdict]:
    namespace = job.manifest.namespace
    team = _team_of(namespace)
    queue, priority = labels.get(QUEUE_LABEL), labels.get(PRIORITY_LABEL)
    if queue is None:
        if is_job and team is not None:
            yield failed(
                job.manifest,
                *path,
                QUEUE_LABEL,
                found=f"no queue in the namespace {namespace} of task governance",
                allowed=team_queue(team),
            )
    elif is_deferred(queue) or is_deferred(namespace):
        yield undetermined(
            job.manifest, *path, QUEUE_LABEL, found=f"queue {queue}", allowed="the queue of its namespace"
        )
    elif team is not None and queue != team_queue(team):
        yield failed(
            job.manifest,
            *path,
            QUEUE_LABEL,
            found=f"queue {shown(queue)} in namespace {namespace}",
            allowed=team_queue(team),
        )
    elif team is None and _queue_team(queue) is not None:
        allowed = f"namespace {TEAM_NAMESPACE_PREFIX}{_queue_team(queue)}"
        if namespace is None:
            yield undetermined(
                job.manifest, *path, QUEUE_LABEL, found=f"queue {queue} without namespace", allowed=allowed
            )
        else:
            yield failed(
                job.manifest,
                *path,
                QUEUE_LABEL,
                found=f"queue {queue} in namespace {namespace}",
                allowed=allowed,
            )
    governed = team is not None or _queue_team(queue) is not None
    if priority is not None and is_job and queue is None and not governed:
        yield failed(
            job.manifest,
            *path,
            PRIORITY_LABEL,
            found=f"priority {shown(priority)} without queue",
            allowed=f"the label {QUEUE_LABEL} beside it",
            severity="warning",
        )
    elif (
        governed
        and priority is not None
        and not is_deferred(priority)
        and not str(priority).endswith(_PRIORITY_END)
    ):
        yield failed(
            job.manifest,
            *path,
            PRIORITY_LABEL,
            found=f"priority {shown(priority)}",
            allowed=workload_priority(str(priority)),
        )


def _team_of(namespace: str | None) -> str | None:
    if namespace is None or not namespace.startswith(TEAM_NAMESPACE_PREFIX):
        return None
    return namespace.removeprefix(TEAM_NAMESPACE_PREFIX)


def _queue_team(queue: Any) -> str | None:
    if not isinstance(queue, str) or not queue.startswith(TEAM_NAMESPACE_PREFIX):
        return None
    return queue.removeprefix(TEAM_NAMESPACE_PREFIX).removesuffix(_QUEUE_END)


RULE = ManifestRule(
    id="QueueLabels",
    title="a job's queue, priority and namespace belong to one team",
    severity="error",
    why=(
        "Task governance makes one namespace and one queue for each team. A job with another team's queue, "
        "or with a priority that is not named <class>-priority, is never admitted: it stays suspended "
        "without an error. A job without queue in that namespace runs beside all quotas, or not at all."
    ),
    fix="use the namespace hyperpod-ns-<team>, the queue hyperpod-ns-<team>-localqueue and <class>-priority",
    source="AWS docs sagemaker-hyperpod-eks-operate-console-ui-governance",
    check=check,
)
