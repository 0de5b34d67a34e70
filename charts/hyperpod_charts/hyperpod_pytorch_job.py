"""A training job of the HyperPod operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from constructs import Construct

from hyperpod_charts.checked_arguments import (
    check_at_least,
    check_choice,
    check_given,
    check_is,
    check_metadata,
    check_pod_names,
    refuse_arguments,
)
from hyperpod_charts.elastic_range import ElasticRange
from hyperpod_charts.job_members import member_labels
from hyperpod_charts.kubernetes_object import KubernetesObject, given
from hyperpod_charts.log_monitoring_rule import LogMonitoringRule
from hyperpod_charts.pytorch_job import check_processes
from hyperpod_charts.training_pod import TrainingPod
from hyperpod_model.catalog.jobs import JOB_NAME, OPERATORS, QUEUE_LABEL, SIGNAL_COORDINATION
from hyperpod_model.catalog.ports import OPERATOR_AGENT
from hyperpod_model.faults import Fault
from hyperpod_model.monitored_output import MONITORED_OUTPUT_FLAG, command_keeps_output

_HYPERPOD = OPERATORS["hyperpod"]
_FOR_EVER = -1


class HyperPodPyTorchJob(KubernetesObject):
    """A ``HyperPodPyTorchJob`` of ``sagemaker.amazonaws.com/v1``.

    The container runs ``hyperpodrun``, which listens at port 8080 for the operator. Nothing may stand
    between it and the operator's signals.

    Args:
        scope: Parent, within a ``cdk8s.Chart``.
        id: Id within the parent.
        name: Name of the job. Pods are named ``<name>-pods-<n>``.
        namespace: Its namespace. Default that of the chart.
        pod: What each pod is.
        replicas: Number of pods. Left out with ``elastic``, which says it.
        elastic: Between which numbers of pods the job changes while it runs. Default it does not.
        spares: Further pods whose resources the queue keeps for the job. Needs a queue in ``labels``. Default
            none.
        nproc_per_node: Processes a pod, or ``auto``, ``cpu``, ``gpu``.
        job_max_retry_count: Most restarts of the job. A job that never runs would restart for ever.
        eval_period_seconds: Seconds over which restarts are counted. Default an hour.
        restarts_before_full_job_restart: Restarts of processes alone before all pods are made anew. Default
            the operator's.
        max_full_job_restarts: Most times that all pods are made anew. Default the operator's.
        scale_up_snooze_seconds: Seconds after a restart in which no pod is added. Default none.
        log_monitoring: Rules on the job's log. They see what the first process of a node writes on standard
            output, and only if ``hyperpodrun`` is given ``--tee=0:1`` or the like. Default none.
        clean_pod_policy: Which pods go when the job is over: ``None``, ``OnlyComplete`` or ``All``. Default
            ``None``: all logs stay.
        ttl_seconds_after_finished: Seconds that a finished job is kept, -1 for ever. Default a day: the
            operator's own default deletes it at once.
        active_deadline_seconds: Seconds after which it is ended. Default never.
        labels: Labels of the job and of its pods, such as
            :func:`~hyperpod_charts.task_governance.queue_labels`.
        annotations: Annotations of the job. Default none.

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
        replicas: int | None = None,
        elastic: ElasticRange | None = None,
        spares: int = 0,
        nproc_per_node: str,
        job_max_retry_count: int,
        eval_period_seconds: int = 3600,
        restarts_before_full_job_restart: int | None = None,
        max_full_job_restarts: int | None = None,
        scale_up_snooze_seconds: int | None = None,
        log_monitoring: Sequence[LogMonitoringRule] = (),
        clean_pod_policy: str = _HYPERPOD.default_clean_pod_policy,
        ttl_seconds_after_finished: int = 86400,
        active_deadline_seconds: int | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        owner = f"{_HYPERPOD.kind} {name!r}"
        refuse_arguments(owner, check_is("pod", pod, TrainingPod))
        refuse_arguments(
            owner,
            [
                *check_metadata(
                    name=name,
                    namespace=namespace,
                    labels=labels,
                    annotations=annotations,
                    name_rule=JOB_NAME,
                ),
                *check_pod_names(name, _most_pods(replicas, elastic, spares), _HYPERPOD),
                *_check_replicas(replicas, elastic, pod),
                *_check_spares(spares, labels),
                *_check_agent_port(pod),
                *_check_rules(log_monitoring),
                *_check_output(log_monitoring, pod),
                *check_processes(nproc_per_node),
                *check_given("job_max_retry_count", job_max_retry_count),
                *check_at_least("job_max_retry_count", job_max_retry_count, 0),
                *check_at_least("eval_period_seconds", eval_period_seconds, 1),
                *check_at_least("restarts_before_full_job_restart", restarts_before_full_job_restart, 0),
                *check_at_least("max_full_job_restarts", max_full_job_restarts, 0),
                *check_at_least("scale_up_snooze_seconds", scale_up_snooze_seconds, 0),
                *check_choice("clean_pod_policy", clean_pod_policy, _HYPERPOD.clean_pod_policies),
                *check_at_least("ttl_seconds_after_finished", ttl_seconds_after_finished, _FOR_EVER),
                *check_at_least("active_deadline_seconds", active_deadline_seconds, 1),
            ],
        )
        own = {} if labels is None else dict(labels)
        super().__init__(
            scope,
            id,
            api_version=_HYPERPOD.api_version,
            kind=_HYPERPOD.kind,
            name=name,
            namespace=namespace,
            labels=own,
            annotations=annotations,
            body={
                "spec": given(
                    nprocPerNode=nproc_per_node,
                    elasticPolicy=None if elastic is None else elastic.to_json(),
                    runPolicy=given(
                        cleanPodPolicy=clean_pod_policy,
                        jobMaxRetryCount=job_max_retry_count,
                        restartPolicy=given(
                            evalPeriodSeconds=eval_period_seconds,
                            numRestartBeforeFullJobRestart=restarts_before_full_job_restart,
                            maxFullJobRestarts=max_full_job_restarts,
                            scaleUpSnoozeTimeInSeconds=scale_up_snooze_seconds,
                        ),
                        logMonitoringConfiguration=[rule.to_json() for rule in log_monitoring],
                        ttlSecondsAfterFinished=ttl_seconds_after_finished,
                        activeDeadlineSeconds=active_deadline_seconds,
                    ),
                    replicaSpecs=[
                        given(
                            name=_HYPERPOD.replica_name,
                            replicas=replicas if elastic is None else elastic.min_replicas,
                            maxReplicas=None if elastic is None else elastic.max_replicas,
                            spares=spares if spares > 0 else None,
                            template=pod.template(labels={**own, **member_labels(name)}),
                        )
                    ],
                )
            },
        )


def _most_pods(replicas: int | None, elastic: ElasticRange | None, spares: int) -> int | None:
    most = replicas if elastic is None else elastic.max_replicas
    return most + spares if isinstance(most, int) and isinstance(spares, int) else None


def _check_replicas(replicas: int | None, elastic: ElasticRange | None, pod: TrainingPod) -> Iterator[Fault]:
    if (replicas is None) == (elastic is None):
        got = "neither" if elastic is None else "both"
        yield Fault(("replicas",), f"or elastic must be given, one of them, got {got}")
    yield from check_at_least("replicas", replicas, 1)
    if elastic is None:
        return
    for fault in elastic.faults():
        yield fault._replace(path=("elastic", *fault.path))
    name, value = SIGNAL_COORDINATION
    if pod.environment.get(name) != value:
        yield Fault(
            ("pod", "environment"),
            f"must have {name} set to {value!r} with elastic, got {pod.environment.get(name)!r}; without it "
            "training never hears of a change",
        )


def _check_spares(spares: int, labels: Mapping[str, str] | None) -> list[Fault]:
    faults = check_at_least("spares", spares, 0)
    if not faults and spares > 0 and QUEUE_LABEL not in ({} if labels is None else labels):
        faults.append(
            Fault(
                ("spares",),
                f"needs a queue, got no label {QUEUE_LABEL}; add queue_labels(team=...) to labels",
            )
        )
    return faults


def _check_agent_port(pod: TrainingPod) -> list[Fault]:
    (agent,) = OPERATOR_AGENT
    if agent.first in pod.ports.values():
        return []
    return [
        Fault(
            ("pod", "ports"),
            f"must have {agent.first}, where the operator reaches hyperpodrun, got {dict(pod.ports)}; add "
            f"'agent': {agent.first}",
        )
    ]


def _check_output(rules: Sequence[LogMonitoringRule], pod: TrainingPod) -> list[Fault]:
    if not rules or command_keeps_output([*pod.command, *pod.args], pod.environment) is not False:
        return []
    return [
        Fault(
            ("pod", "command"),
            f"must have {_HYPERPOD.launcher} keep standard output of each node's first process in a file, "
            f"got {list(pod.command)}; log_monitoring sees no line else and takes the job for hanging: add "
            f"{MONITORED_OUTPUT_FLAG}",
        )
    ]


def _check_rules(rules: Sequence[LogMonitoringRule]) -> Iterator[Fault]:
    names: list[Any] = []
    for index, rule in enumerate(rules):
        for fault in rule.faults():
            yield fault._replace(path=("log_monitoring", index, *fault.path))
        if rule.name in names:
            yield Fault(("log_monitoring", index, "name"), f"is taken already, got {rule.name!r} twice")
        names.append(rule.name)
