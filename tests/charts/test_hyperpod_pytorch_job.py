"""The HyperPodPyTorchJob of the HyperPod operator."""

from __future__ import annotations

from typing import Any

import pytest
from charted import object_of, training_pod

from hyperpod_charts import (
    ElasticRange,
    HyperPodPyTorchJob,
    LogMonitoringRule,
    TrainingPod,
    queue_labels,
)
from hyperpod_model.faults import InvalidInputError

AGENT = {"agent": 8080}
SIGNALS = {"HYPERPOD_SIGNAL_COORDINATION": "distributed"}
STEPS = ElasticRange(min_replicas=2, max_replicas=8, replica_increment_step=2)


def job(pod: TrainingPod | None = None, **changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {
        "name": "llama",
        "namespace": "training",
        "replicas": 2,
        "nproc_per_node": "8",
        "job_max_retry_count": 10,
    }
    given = training_pod(ports=AGENT, environment=SIGNALS) if pod is None else pod
    return object_of(lambda chart: HyperPodPyTorchJob(chart, "Job", pod=given, **(said | changes)))


def replicas_of(made: dict[str, Any]) -> dict[str, Any]:
    (replicas,) = made["spec"]["replicaSpecs"]
    return dict(replicas)


def test_kind_and_metadata():
    made = job(annotations={"c": "d"})
    assert (made["apiVersion"], made["kind"]) == ("sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob")
    assert made["metadata"] == {"name": "llama", "namespace": "training", "annotations": {"c": "d"}}


def test_defaults_keep_the_log_and_the_finished_job():
    """The operator's own are to delete the pods, and the job at once."""
    assert job()["spec"]["runPolicy"] == {
        "cleanPodPolicy": "None",
        "jobMaxRetryCount": 10,
        "restartPolicy": {"evalPeriodSeconds": 3600},
        "ttlSecondsAfterFinished": 86400,
    }


def test_a_fixed_size():
    made = job()
    assert "elasticPolicy" not in made["spec"]
    replicas = replicas_of(made)
    assert (replicas["name"], replicas["replicas"]) == ("pods", 2)
    assert replicas.keys() == {"name", "replicas", "template"}


def test_an_elastic_job_begins_with_its_fewest_pods():
    made = job(replicas=None, elastic=STEPS)
    assert made["spec"]["elasticPolicy"] == {
        "minReplicas": 2,
        "maxReplicas": 8,
        "replicaIncrementStep": 2,
    }
    replicas = replicas_of(made)
    assert (replicas["replicas"], replicas["maxReplicas"]) == (2, 8)


def test_an_elastic_job_by_numbers_and_timeouts():
    elastic = ElasticRange(
        min_replicas=1,
        max_replicas=4,
        replica_discrete_values=(1, 2, 4),
        scaling_timeout_seconds=60,
        graceful_shutdown_timeout_seconds=120,
        faulty_scale_down_timeout_seconds=30,
    )
    made = job(replicas=None, elastic=elastic, scale_up_snooze_seconds=0)
    assert made["spec"]["elasticPolicy"] == {
        "minReplicas": 1,
        "maxReplicas": 4,
        "replicaDiscreteValues": [1, 2, 4],
        "scalingTimeoutInSeconds": 60,
        "gracefulShutdownTimeoutInSeconds": 120,
        "faultyScaleDownTimeoutInSeconds": 30,
    }
    assert made["spec"]["runPolicy"]["restartPolicy"]["scaleUpSnoozeTimeInSeconds"] == 0


def test_queue_labels_are_on_job_and_pods():
    labels = queue_labels(team="research", priority_class="training")
    made = job(labels=labels, spares=2)
    assert made["metadata"]["labels"] == {
        "kueue.x-k8s.io/queue-name": "hyperpod-ns-research-localqueue",
        "kueue.x-k8s.io/priority-class": "training-priority",
    }
    assert labels.items() <= replicas_of(made)["template"]["metadata"]["labels"].items()
    assert replicas_of(made)["spares"] == 2


def test_pods_carry_the_labels_of_the_job_s_members():
    assert replicas_of(job())["template"]["metadata"]["labels"] == {
        "app.kubernetes.io/instance": "llama",
        "app.kubernetes.io/component": "training",
    }


def test_log_monitoring():
    rules = [
        LogMonitoringRule(
            name="hang",
            log_pattern="step (\\d+)",
            expected_start_cut_off_seconds=600,
            expected_recurring_frequency_seconds=300,
            stop_pattern="done",
        ),
        LogMonitoringRule(
            name="slow",
            log_pattern="took ([0-9]+)",
            operator="gt",
            metric_threshold=0,
            metric_evaluation_data_points=5,
        ),
        LogMonitoringRule(name="nan", log_pattern="loss nan", fault_on_match=True),
    ]
    assert job(log_monitoring=rules)["spec"]["runPolicy"]["logMonitoringConfiguration"] == [
        {
            "name": "hang",
            "logPattern": "step (\\d+)",
            "expectedStartCutOffInSeconds": 600,
            "expectedRecurringFrequencyInSeconds": 300,
            "stopPattern": "done",
        },
        {
            "name": "slow",
            "logPattern": "took ([0-9]+)",
            "operator": "gt",
            "metricThreshold": 0,
            "metricEvaluationDataPoints": 5,
        },
        {"name": "nan", "logPattern": "loss nan", "faultOnMatch": True},
    ]


HANG = LogMonitoringRule(name="hang", log_pattern=".*step", expected_start_cut_off_seconds=60)


@pytest.mark.parametrize(
    "said",
    [
        {"command": ["hyperpodrun"]},
        {"command": ["hyperpodrun", "--tee=2"]},
        {"command": ["hyperpodrun"], "args": ["/a.py", "--tee=3"]},
    ],
)
def test_a_log_with_rules_that_nobody_keeps_is_refused(said: dict[str, Any]):
    pod = training_pod(ports=AGENT, environment=SIGNALS, **said)
    job(pod)
    with pytest.raises(InvalidInputError, match=r"pod\.command: must have hyperpodrun keep.*: add --tee=0:1"):
        job(pod, log_monitoring=[HANG])


@pytest.mark.parametrize(
    "said",
    [
        {"command": ["hyperpodrun", "--tee=0:1"]},
        {"command": ["hyperpodrun"], "args": ["-r", "3", "/a.py"]},
        {"command": ["hyperpodrun"], "environment": {"PET_TEE": "3"}},
        {"command": ["hyperpodrun", "${Token[TEE.1]}"]},
        {"command": ["/start.sh"]},
        {"command": [], "args": []},
    ],
)
def test_a_log_with_rules_that_is_kept_or_may_be_is_taken(said: dict[str, Any]):
    pod = training_pod(**{"ports": AGENT, "environment": SIGNALS} | said)
    assert job(pod, log_monitoring=[HANG])["spec"]["runPolicy"]["logMonitoringConfiguration"]


@pytest.mark.parametrize(
    ("change", "path", "value"),
    [
        ({"job_max_retry_count": 0}, ("jobMaxRetryCount",), 0),
        ({"eval_period_seconds": 60}, ("restartPolicy", "evalPeriodSeconds"), 60),
        ({"restarts_before_full_job_restart": 0}, ("restartPolicy", "numRestartBeforeFullJobRestart"), 0),
        ({"max_full_job_restarts": 0}, ("restartPolicy", "maxFullJobRestarts"), 0),
        ({"clean_pod_policy": "OnlyComplete"}, ("cleanPodPolicy",), "OnlyComplete"),
        ({"ttl_seconds_after_finished": -1}, ("ttlSecondsAfterFinished",), -1),
        ({"ttl_seconds_after_finished": 0}, ("ttlSecondsAfterFinished",), 0),
        ({"active_deadline_seconds": 60}, ("activeDeadlineSeconds",), 60),
    ],
)
def test_what_is_said_is_written(change: dict[str, Any], path: tuple[str, ...], value: object):
    found = job(**change)["spec"]["runPolicy"]
    for step in path:
        found = found[step]
    assert found == value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Llama"}, "HyperPodPyTorchJob 'Llama': name: must be"),
        ({"name": "a" * 57}, "name: is too long: its last pod would be 'a+-pods-1' with 64 characters"),
        ({"pod": {}}, "HyperPodPyTorchJob 'llama': pod: must be a TrainingPod, got {}"),
        ({"job_max_retry_count": None}, "job_max_retry_count: is required"),
        ({"replicas": None}, "replicas: or elastic must be given, one of them, got neither"),
        ({"elastic": STEPS}, "replicas: or elastic must be given, one of them, got both"),
        ({"replicas": 0}, "replicas: .* at least 1, got 0"),
        ({"spares": 1}, "spares: needs a queue, got no label kueue.x-k8s.io/queue-name"),
        ({"spares": -1}, "spares: .* at least 0, got -1"),
        ({"nproc_per_node": 8}, "nproc_per_node: must be a whole number as text"),
        ({"job_max_retry_count": -1}, "job_max_retry_count: .* at least 0, got -1"),
        ({"eval_period_seconds": 0}, "eval_period_seconds: .* at least 1, got 0"),
        ({"restarts_before_full_job_restart": -1}, "restarts_before_full_job_restart: .* got -1"),
        ({"max_full_job_restarts": -1}, "max_full_job_restarts: .* got -1"),
        ({"scale_up_snooze_seconds": -1}, "scale_up_snooze_seconds: .* got -1"),
        ({"clean_pod_policy": "Running"}, "clean_pod_policy: must be one of All, .*, got 'Running'"),
        ({"ttl_seconds_after_finished": -2}, "ttl_seconds_after_finished: .* at least -1, got -2"),
        (
            {"log_monitoring": [LogMonitoringRule(name="a", log_pattern="b", operator="gt")]},
            r"log_monitoring\[0\].metric_threshold: goes together with operator",
        ),
        (
            {"log_monitoring": [LogMonitoringRule(name="a", log_pattern="b", metric_threshold=2)]},
            r"log_monitoring\[0\].metric_threshold: goes together with operator",
        ),
        (
            {
                "log_monitoring": [
                    LogMonitoringRule(name="a", log_pattern="b", operator=">", metric_threshold=2)
                ]
            },
            r"log_monitoring\[0\].operator: must be one of gt, gteq, lt, lteq, eq, got '>'",
        ),
        (
            {"log_monitoring": [LogMonitoringRule(name="a", log_pattern="b")] * 2},
            r"log_monitoring\[1\].name: is taken already, got 'a' twice",
        ),
    ],
)
def test_a_wrong_job_is_refused(change: dict[str, Any], message: str):
    with pytest.raises(InvalidInputError, match=message):
        job(**change)


@pytest.mark.parametrize(
    ("elastic", "message"),
    [
        (
            ElasticRange(min_replicas=1, max_replicas=2),
            "elastic.replica_increment_step: or replica_discrete_values must be given, .* got neither",
        ),
        (
            ElasticRange(
                min_replicas=1, max_replicas=2, replica_increment_step=1, replica_discrete_values=[1, 2]
            ),
            "elastic.replica_increment_step: or replica_discrete_values must be given, .* got both",
        ),
        (
            ElasticRange(min_replicas=3, max_replicas=2, replica_increment_step=1),
            "elastic.max_replicas: .* at least 3, got 2",
        ),
        (
            ElasticRange(min_replicas=1, max_replicas=2, replica_discrete_values=[1, 4]),
            r"elastic.replica_discrete_values: must be from 1 to 2, got \[4\]",
        ),
        (
            ElasticRange(min_replicas=1, max_replicas=2, replica_increment_step=0),
            "elastic.replica_increment_step: .* at least 1, got 0",
        ),
    ],
)
def test_a_wrong_range_is_refused(elastic: ElasticRange, message: str):
    with pytest.raises(InvalidInputError, match=message):
        job(replicas=None, elastic=elastic)


def test_an_elastic_job_needs_signals():
    with pytest.raises(InvalidInputError, match="HYPERPOD_SIGNAL_COORDINATION set to 'distributed'"):
        job(training_pod(ports=AGENT), replicas=None, elastic=STEPS)


def test_a_job_of_fixed_size_needs_none():
    assert "env" not in replicas_of(job(training_pod(ports=AGENT)))["template"]["spec"]["containers"][0]


def test_the_operator_must_reach_the_agent():
    with pytest.raises(InvalidInputError, match=r"pod.ports: must have 8080.*got \{'web': 80\}; add 'agent'"):
        job(training_pod(ports={"web": 80}))
