"""The PyTorchJob of the Kubeflow operator."""

from __future__ import annotations

from typing import Any

import pytest
from cdk8s import App, Chart, JsonPatch
from charted import NUMBER_TOKEN, TOKEN, object_of, training_pod

from hyperpod_charts import PyTorchJob, TrainingPod
from hyperpod_model.faults import InvalidInputError


def job(pod: TrainingPod | None = None, **changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"name": "llama", "namespace": "kubeflow", "replicas": 2, "nproc_per_node": "8"}
    given = training_pod() if pod is None else pod
    return object_of(lambda chart: PyTorchJob(chart, "Job", pod=given, **(said | changes)))


def test_kind_and_metadata():
    made = job(labels={"a": "b"}, annotations={"c": "d"})
    assert (made["apiVersion"], made["kind"]) == ("kubeflow.org/v1", "PyTorchJob")
    assert made["metadata"] == {
        "name": "llama",
        "namespace": "kubeflow",
        "labels": {"a": "b"},
        "annotations": {"c": "d"},
    }


def test_a_fixed_size_is_an_elastic_policy_with_one_number():
    """The operator sets torchrun's rendezvous by it; without a master it sets it by nothing else."""
    spec = job()["spec"]
    assert spec["elasticPolicy"] == {
        "minReplicas": 2,
        "maxReplicas": 2,
        "rdzvBackend": "c10d",
        "rdzvId": "llama",
    }
    assert spec["nprocPerNode"] == "8"
    assert spec["pytorchReplicaSpecs"].keys() == {"Worker"}
    assert spec["pytorchReplicaSpecs"]["Worker"]["replicas"] == 2


def test_an_elastic_job_has_pods_for_its_largest_size():
    spec = job(replicas=8, min_replicas=2)["spec"]
    assert spec["elasticPolicy"]["minReplicas"] == 2
    assert spec["elasticPolicy"]["maxReplicas"] == 8
    assert spec["pytorchReplicaSpecs"]["Worker"]["replicas"] == 8


@pytest.mark.parametrize(
    ("replicas", "expected"),
    [(1, {"Master": 1}), (2, {"Master": 1, "Worker": 1}), (5, {"Master": 1, "Worker": 4})],
)
def test_a_master_is_one_of_the_pods_and_takes_the_place_of_the_elastic_policy(
    replicas: int, expected: dict[str, int]
):
    spec = job(replicas=replicas, master=True)["spec"]
    assert "elasticPolicy" not in spec
    assert {kind: said["replicas"] for kind, said in spec["pytorchReplicaSpecs"].items()} == expected


def test_master_and_workers_are_the_same_pods():
    replicas = job(master=True)["spec"]["pytorchReplicaSpecs"]
    assert replicas["Master"]["template"] == replicas["Worker"]["template"]


def test_pods_carry_the_labels_of_the_job_s_members():
    template = job()["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]
    assert template["metadata"]["labels"] == {
        "app.kubernetes.io/instance": "llama",
        "app.kubernetes.io/component": "training",
    }


def test_auto_resume_is_said_by_annotations_as_text():
    made = job(auto_resume_retries=3, annotations={"note": "x"})
    assert made["metadata"]["annotations"] == {
        "note": "x",
        "sagemaker.amazonaws.com/enable-job-auto-resume": "true",
        "sagemaker.amazonaws.com/job-max-retry-count": "3",
    }
    assert made["spec"]["pytorchReplicaSpecs"]["Worker"]["restartPolicy"] == "OnFailure"


def test_without_auto_resume_nothing_is_annotated():
    assert "annotations" not in job()["metadata"]


@pytest.mark.parametrize(
    ("change", "part", "field", "value"),
    [
        ({}, "runPolicy", "cleanPodPolicy", "Running"),
        ({"clean_pod_policy": "None"}, "runPolicy", "cleanPodPolicy", "None"),
        ({"backoff_limit": 0}, "runPolicy", "backoffLimit", 0),
        ({"ttl_seconds_after_finished": 0}, "runPolicy", "ttlSecondsAfterFinished", 0),
        ({"active_deadline_seconds": 60}, "runPolicy", "activeDeadlineSeconds", 60),
        ({"rdzv_id": "other"}, "elasticPolicy", "rdzvId", "other"),
        ({"rdzv_backend": "etcd"}, "elasticPolicy", "rdzvBackend", "etcd"),
        ({"max_restarts": 0}, "elasticPolicy", "maxRestarts", 0),
    ],
)
def test_what_is_said_is_written(change: dict[str, Any], part: str, field: str, value: object):
    assert job(**change)["spec"][part][field] == value


def test_what_is_not_said_is_not_written():
    spec = job()["spec"]
    assert spec["runPolicy"] == {"cleanPodPolicy": "Running"}
    assert "maxRestarts" not in spec["elasticPolicy"]


def test_the_chart_gives_the_namespace():
    chart = Chart(App(), "Test", namespace="kubeflow")
    PyTorchJob(chart, "Job", name="a", pod=training_pod(), replicas=1, nproc_per_node="auto")
    assert chart.to_json()[0]["metadata"]["namespace"] == "kubeflow"


def test_a_job_can_be_patched_as_any_cdk8s_object():
    chart = Chart(App(), "Test")
    made = PyTorchJob(chart, "Job", name="a", pod=training_pod(), replicas=1, nproc_per_node="auto")
    made.add_json_patch(JsonPatch.add("/spec/runPolicy/suspend", True))
    made.metadata.add_label("owner", "me")
    (found,) = chart.to_json()
    assert found["spec"]["runPolicy"]["suspend"] is True
    assert found["metadata"]["labels"] == {"owner": "me"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "1llama"}, "PyTorchJob '1llama': name: must be .* beginning with a letter, got '1llama'"),
        ({"name": None}, "name: is required, got None"),
        (
            {"name": "a" * 55},
            "name: is too long: its last pod would be 'a+-worker-1' with 64 characters, and 63 are allowed; "
            "shorten it by 1",
        ),
        ({"pod": {"image": "a"}}, r"pod: must be a TrainingPod, got \{'image': 'a'\}; write TrainingPod\("),
        ({"replicas": None}, "replicas: is required, got None"),
        ({"replicas": 2**31}, "replicas: must be at most 2147483647"),
        (
            {"replicas": NUMBER_TOKEN, "master": True},
            "replicas: must be known before deployment, got a token",
        ),
        ({"auto_resume_retries": NUMBER_TOKEN}, "auto_resume_retries: must be known before deployment"),
        ({"rdzv_id": ""}, "rdzv_id: must be text that is not empty, got ''; leave it out"),
        ({"rdzv_id": 7}, "rdzv_id: must be text that is not empty, got 7"),
        ({"rdzv_backend": None}, "rdzv_backend: is required, got None"),
        ({"namespace": "Kube"}, "namespace: must be .*, got 'Kube'"),
        ({"labels": {"a": "-"}}, "labels.a: must be .*, got '-'"),
        ({"annotations": {"a": True}}, r"annotations.a: must be text, got True; write str\(True\)"),
        ({"replicas": 0}, "replicas: must be a whole number of at least 1, got 0"),
        ({"replicas": True}, "replicas: must be a whole number of at least 1, got True"),
        ({"min_replicas": 3}, "min_replicas: must be at most replicas, 2, got 3"),
        ({"min_replicas": 1, "master": True}, "min_replicas: goes not with master"),
        ({"nproc_per_node": 8}, "nproc_per_node: must be a whole number as text, or auto, cpu, gpu, got 8"),
        ({"nproc_per_node": "0"}, "nproc_per_node: .* got '0'"),
        ({"rdzv_backend": "C10D"}, "rdzv_backend: must be one of c10d, .*, got 'C10D'"),
        ({"restart_policy": "onFailure"}, "restart_policy: must be one of Always, .*, got 'onFailure'"),
        (
            {"clean_pod_policy": "OnlyComplete"},
            "clean_pod_policy: must be one of All, .*, got 'OnlyComplete'",
        ),
        ({"max_restarts": -1}, "max_restarts: must be .* at least 0, got -1"),
        ({"backoff_limit": -1}, "backoff_limit: must be .* at least 0, got -1"),
        ({"ttl_seconds_after_finished": -1}, "ttl_seconds_after_finished: .* at least 0, got -1"),
        ({"active_deadline_seconds": 0}, "active_deadline_seconds: .* at least 1, got 0"),
        ({"auto_resume_retries": 0}, "auto_resume_retries: must be .* at least 1, got 0"),
        (
            {"auto_resume_retries": 3, "namespace": "training"},
            "namespace: must be kubeflow or begin with hyperpod for auto_resume_retries, got 'training'",
        ),
        (
            {"auto_resume_retries": 3, "restart_policy": "Never"},
            "restart_policy: must be OnFailure with auto_resume_retries, got 'Never'",
        ),
    ],
)
def test_a_wrong_job_is_refused(change: dict[str, Any], message: str):
    with pytest.raises(InvalidInputError, match=message):
        job(**change)


@pytest.mark.parametrize("namespace", ["training", "default"])
def test_the_namespace_of_the_chart_is_checked_as_its_own(namespace: str):
    chart = Chart(App(), "Test", namespace=namespace)
    options: dict[str, Any] = {"name": "a", "pod": training_pod(), "replicas": 1, "nproc_per_node": "1"}
    PyTorchJob(chart, "WithoutResume", **options)
    PyTorchJob(chart, "Elsewhere", namespace="kubeflow", auto_resume_retries=1, **options)
    with pytest.raises(InvalidInputError, match=f"namespace: must be kubeflow .*, got '{namespace}'"):
        PyTorchJob(chart, "Job", auto_resume_retries=1, **options)


@pytest.mark.parametrize(
    "change",
    [
        {"namespace": "training"},
        {"namespace": TOKEN, "name": TOKEN},
        {"auto_resume_retries": 1, "namespace": "hyperpod-ns-research"},
        {"restart_policy": "Never"},
        {"min_replicas": 2},
        {"nproc_per_node": "gpu"},
        {"name": "a" * 54},
        {"replicas": NUMBER_TOKEN},
        {"replicas": NUMBER_TOKEN, "min_replicas": 2},
        {"ttl_seconds_after_finished": NUMBER_TOKEN},
        {"auto_resume_retries": 1, "namespace": TOKEN},
        {"rdzv_id": TOKEN},
    ],
)
def test_what_is_right_or_not_known_yet_passes(change: dict[str, Any]):
    job(**change)
