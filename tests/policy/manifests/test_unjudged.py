from __future__ import annotations

import pytest

from hyperpod_policy.manifests import manifests_of
from hyperpod_policy.review_sources import review_manifests

CONTAINERS = {"containers": [{"name": "main", "image": "a.b/c:1", "securityContext": {"privileged": True}}]}


def _limits(*bodies):
    return review_manifests([manifest for body in bodies for manifest in manifests_of(body)]).limits


def _object(kind, api_version, spec):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "other"}, "spec": spec}


@pytest.mark.parametrize(
    ("kind", "api_version", "spec"),
    [
        ("Pod", "v1", CONTAINERS),
        ("Job", "batch/v1", {"template": {"spec": CONTAINERS}}),
        ("CronJob", "batch/v1", {"jobTemplate": {"spec": {"template": {"spec": CONTAINERS}}}}),
        (
            "MPIJob",
            "kubeflow.org/v2beta1",
            {"mpiReplicaSpecs": {"Worker": {"template": {"spec": CONTAINERS}}}},
        ),
        ("TFJob", "kubeflow.org/v1", {"tfReplicaSpecs": {"Worker": {"template": {"spec": CONTAINERS}}}}),
        ("JobSet", "jobset.x-k8s.io/v1alpha2", {"replicatedJobs": [{"template": {"spec": CONTAINERS}}]}),
        ("RayCluster", "ray.io/v1", {"workerGroupSpecs": [{"template": {"spec": CONTAINERS}}]}),
        ("PyTorchJob", "batch.example.com/v1", {"template": {"spec": CONTAINERS}}),
        ("TrainJob", "trainer.kubeflow.org/v1alpha1", {"runtimeRef": {"name": "torch"}}),
    ],
)
def test_pods_of_other_kinds_are_said_not_to_be_judged(kubeflow, kind, api_version, spec):
    (limit,) = _limits(kubeflow, _object(kind, api_version, spec))
    assert limit == (
        f"the pods of {kind}/other of {api_version}: rules know those of PyTorchJob and HyperPodPyTorchJob"
    )


def test_many_are_counted():
    (limit,) = _limits(*(_object("Pod", "v1", CONTAINERS) for _ in range(5)))
    assert limit.startswith("the pods of Pod/other of v1, Pod/other of v1, Pod/other of v1 and 2 more: ")


def test_objects_without_pods_need_no_remark(kubeflow, hyperpod):
    claim = _object("PersistentVolumeClaim", "v1", {"accessModes": ["ReadWriteMany"]})
    text = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"containers": "a: 1"}}
    assert _limits(kubeflow, hyperpod, claim, text) == ()


@pytest.mark.parametrize(
    ("kind", "api_version"),
    [
        ("PyTorchJobs", "kubeflow.org/v1"),
        ("PyTorchJob", "kubeflow/v1"),
        ("HyperPodPyTorchJob", "sagemaker.aws.com/v1"),
        ("HyperpodPytorchJobs", "sagemaker.amazonaws.com/v1"),
    ],
)
def test_a_misspelled_job_is_judged_as_one(judge, kind, api_version):
    (finding,) = judge("JobKind", _object(kind, api_version, {})).failures
    assert kind in finding.message or api_version in finding.message
    assert _limits(_object(kind, api_version, {"template": CONTAINERS})) == ()
