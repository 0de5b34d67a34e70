"""A training job of the Kubeflow operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from constructs import Construct

from hyperpod_charts.checked_arguments import (
    check_at_least,
    check_choice,
    check_given,
    check_is,
    check_metadata,
    check_pod_names,
    known,
    refuse_arguments,
)
from hyperpod_charts.job_members import member_labels
from hyperpod_charts.kubernetes_object import KubernetesObject, given, namespace_of
from hyperpod_charts.training_pod import TrainingPod
from hyperpod_model.catalog.jobs import (
    AUTO_RESUME_ANNOTATION,
    AUTO_RESUME_RESTART_POLICY,
    JOB_NAME,
    OPERATORS,
    RETRIES_ANNOTATION,
    auto_resumes_in,
)
from hyperpod_model.catalog.manifest_vocabulary import (
    PROCESS_COUNTS,
    RENDEZVOUS_BACKENDS,
    REPLICA_RESTART_POLICIES,
)
from hyperpod_model.faults import UNKNOWN, Fault

_KUBEFLOW = OPERATORS["kubeflow"]
_MASTER, _WORKER = "Master", "Worker"


class PyTorchJob(KubernetesObject):
    """A ``PyTorchJob`` of ``kubeflow.org/v1``.

    Its pods rendezvous by what the operator puts in their environment: give ``torchrun`` no ``--nnodes`` and
    no ``--rdzv_endpoint``, which would win over it, and take ``MASTER_ADDR`` for granted with ``master``
    only.

    Args:
        scope: Parent, within a ``cdk8s.Chart``.
        id: Id within the parent.
        name: Name of the job. Pods are named ``<name>-worker-<n>``.
        namespace: Its namespace; HyperPod resumes jobs by itself in ``kubeflow`` and in namespaces that
            begin with ``hyperpod`` alone. Default that of the chart.
        pod: What each pod is.
        replicas: Number of pods, the master counted.
        min_replicas: Fewest pods that the job runs on. Default ``replicas``.
        nproc_per_node: Processes a pod, or ``auto``, ``cpu``, ``gpu``.
        rdzv_id: Id by which the processes of this job, and no others, meet. Default the job's name.
        rdzv_backend: Default ``c10d``.
        max_restarts: Restarts of processes by ``torchrun`` within their pods. Default its own, 0: the
            containers restart.
        master: Whether one of the pods is a master that the others meet at, in place of an elastic
            rendezvous. Default False.
        auto_resume_retries: How often HyperPod restarts the job after a fault of a node. Default it does not.
        restart_policy: What becomes of a container that fails. Default ``OnFailure``: it starts again, as
            auto-resume needs.
        backoff_limit: Restarts of containers over all pods until the job has failed. Default the operator's,
            which counts none.
        clean_pod_policy: Which pods go when the job is over: ``Running``, ``All`` or ``None``. Default
            ``Running``: the logs of the others stay.
        ttl_seconds_after_finished: Seconds that a finished job is kept. Default for ever.
        active_deadline_seconds: Seconds after which it is ended. Default never.
        labels: Labels of the job, such as :func:`~hyperpod_charts.task_governance.queue_labels`.
        annotations: Annotations of the job. Default none but those of ``auto_resume_retries``.

    Raises:
        InvalidInputError: With all that Kubernetes would refuse, or accept and never run.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        namespace: str | None = None,
        pod: TrainingPod,
        replicas: int,
        min_replicas: int | None = None,
        nproc_per_node: str,
        rdzv_id: str | None = None,
        rdzv_backend: str = "c10d",
        max_restarts: int | None = None,
        master: bool = False,
        auto_resume_retries: int | None = None,
        restart_policy: str = AUTO_RESUME_RESTART_POLICY,
        backoff_limit: int | None = None,
        clean_pod_policy: str = _KUBEFLOW.default_clean_pod_policy,
        ttl_seconds_after_finished: int | None = None,
        active_deadline_seconds: int | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        least = replicas if min_replicas is None else min_replicas
        refuse_arguments(
            f"{_KUBEFLOW.kind} {name!r}",
            [
                *check_metadata(
                    name=name,
                    namespace=namespace,
                    labels=labels,
                    annotations=annotations,
                    name_rule=JOB_NAME,
                ),
                *check_is("pod", pod, TrainingPod),
                *_check_replicas(replicas, min_replicas, master=master),
                *check_pod_names(name, replicas, _KUBEFLOW),
                *check_rendezvous_id(rdzv_id),
                *check_processes(nproc_per_node),
                *check_given("rdzv_backend", rdzv_backend),
                *check_choice("rdzv_backend", rdzv_backend, RENDEZVOUS_BACKENDS),
                *check_choice("restart_policy", restart_policy, REPLICA_RESTART_POLICIES),
                *check_choice("clean_pod_policy", clean_pod_policy, _KUBEFLOW.clean_pod_policies),
                *check_at_least("max_restarts", max_restarts, 0),
                *check_at_least("backoff_limit", backoff_limit, 0),
                *check_at_least("ttl_seconds_after_finished", ttl_seconds_after_finished, 0),
                *check_at_least("active_deadline_seconds", active_deadline_seconds, 1),
                *_check_auto_resume(auto_resume_retries, namespace_of(scope, namespace), restart_policy),
            ],
        )
        template = pod.template(labels=member_labels(name))
        elastic = given(
            minReplicas=least,
            maxReplicas=replicas,
            maxRestarts=max_restarts,
            rdzvBackend=rdzv_backend,
            rdzvId=name if rdzv_id is None else rdzv_id,
        )
        super().__init__(
            scope,
            id,
            api_version=_KUBEFLOW.api_version,
            kind=_KUBEFLOW.kind,
            name=name,
            namespace=namespace,
            labels=labels,
            annotations={**_auto_resume(auto_resume_retries), **({} if annotations is None else annotations)},
            body={
                "spec": given(
                    nprocPerNode=nproc_per_node,
                    # With a master, the operator sets torchrun's static rendezvous, and both would clash.
                    elasticPolicy=None if master else elastic,
                    runPolicy=given(
                        backoffLimit=backoff_limit,
                        cleanPodPolicy=clean_pod_policy,
                        ttlSecondsAfterFinished=ttl_seconds_after_finished,
                        activeDeadlineSeconds=active_deadline_seconds,
                    ),
                    pytorchReplicaSpecs={
                        kind: {"replicas": count, "restartPolicy": restart_policy, "template": template}
                        for kind, count in _replicas(replicas, master=master)
                    },
                )
            },
        )


def check_processes(nproc_per_node: Any) -> list[Fault]:
    """Check the number of processes of a pod, which both operators take as text.

    Args:
        nproc_per_node: What was given.
    """
    if isinstance(nproc_per_node, str) and (
        nproc_per_node in PROCESS_COUNTS or (nproc_per_node.isdecimal() and int(nproc_per_node) > 0)
    ):
        return []
    allowed = f"a whole number as text, or {', '.join(PROCESS_COUNTS)}"
    return [Fault(("nproc_per_node",), f"must be {allowed}, got {nproc_per_node!r}")]


def check_rendezvous_id(rdzv_id: Any) -> list[Fault]:
    """Check the id by which the processes of a job meet.

    Args:
        rdzv_id: What was given; None for the default.
    """
    if rdzv_id is None or (isinstance(rdzv_id, str) and rdzv_id.strip()):
        return []
    return [
        Fault(("rdzv_id",), f"must be text that is not empty, got {rdzv_id!r}; leave it out for the name")
    ]


def _replicas(replicas: int, *, master: bool) -> Iterator[tuple[str, int]]:
    if master:
        yield _MASTER, 1
    if replicas > 1 or not master:
        yield _WORKER, replicas - 1 if master else replicas


def _auto_resume(retries: int | None) -> dict[str, str]:
    return {} if retries is None else {AUTO_RESUME_ANNOTATION: "true", RETRIES_ANNOTATION: str(retries)}


def _check_replicas(replicas: int, min_replicas: int | None, *, master: bool) -> list[Fault]:
    faults = [
        *check_given("replicas", replicas),
        *check_at_least("replicas", replicas, 1, becomes_text=master),
        *check_at_least("min_replicas", min_replicas, 1),
    ]
    if faults or min_replicas is None:
        return faults
    if master:
        return [
            Fault(("min_replicas",), "goes not with master, whose rendezvous has a fixed size; leave out one")
        ]
    if UNKNOWN not in (known(min_replicas), known(replicas)) and min_replicas > replicas:
        return [Fault(("min_replicas",), f"must be at most replicas, {replicas}, got {min_replicas}")]
    return []


def _check_auto_resume(retries: int | None, namespace: str | None, restart_policy: str) -> list[Fault]:
    faults = check_at_least("auto_resume_retries", retries, 1, becomes_text=True)
    if retries is None:
        return faults
    if isinstance(known(namespace), str) and namespace is not None and not auto_resumes_in(namespace):
        faults.append(
            Fault(
                ("namespace",),
                f"must be kubeflow or begin with hyperpod for auto_resume_retries, got {namespace!r}",
            )
        )
    if restart_policy != AUTO_RESUME_RESTART_POLICY:
        faults.append(
            Fault(
                ("restart_policy",),
                f"must be {AUTO_RESUME_RESTART_POLICY} with auto_resume_retries, got {restart_policy!r}",
            )
        )
    return faults
