"""Right manifests raise nothing, and objects of other kinds are left alone."""

from __future__ import annotations

import copy

import pytest
from job_manifests import (
    checkpointless_job,
    container_of,
    elastic_hyperpod_job,
    hyperpod_job,
    kubeflow_job,
    master_job,
    network_policy,
    replicas_of,
    tiered_job,
)

from hyperpod_policy.manifests import manifests_of
from hyperpod_policy.registry import MANIFEST_RULES
from hyperpod_policy.review_sources import review_manifests

RIGHT = (
    kubeflow_job,
    hyperpod_job,
    elastic_hyperpod_job,
    tiered_job,
    checkpointless_job,
    master_job,
)
ONLY_FOR_EXCEPTIONS = {"DeepHealthSelector", "DeviceRdma", "DisruptionBudget"}


def _reviewed(*bodies):
    return review_manifests([manifest for body in bodies for manifest in manifests_of(body)])


@pytest.mark.parametrize("made", RIGHT)
def test_a_right_job_raises_nothing(made):
    report = _reviewed(made(), network_policy())
    assert [finding.text() for finding in report.findings] == []


def test_every_rule_has_something_to_say_about_right_jobs():
    passed = {finding.rule_id for made in RIGHT for finding in _reviewed(made(), network_policy()).verdicts}
    assert {rule.id for rule in MANIFEST_RULES} - passed == ONLY_FOR_EXCEPTIONS


def _template():
    template = copy.deepcopy(replicas_of(kubeflow_job())["template"])
    template["spec"]["containers"][0]["image"] = "vision:latest"
    del template["spec"]["volumes"]
    return template


@pytest.mark.parametrize(
    "body",
    [
        {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": _template()}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": _template()}},
        {"apiVersion": "v1", "kind": "Pod", "spec": _template()["spec"]},
        {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "spec": {"replicatedJobs": [{"name": "a", "template": {"spec": {"template": _template()}}}]},
        },
        {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "spec": {"tasks": [{"replicas": 2, "template": _template()}]},
        },
        {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue", "spec": {}},
        {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "spec": {}},
        {"apiVersion": "kubeflow.org/v1", "kind": "MPIJob", "spec": {"mpiReplicaSpecs": {}}},
        {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "spec": {"tfReplicaSpecs": {}}},
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": {"maxUnavailable": 0}},
        {"apiVersion": "example.com/v1", "kind": "PyTorchJob", "spec": {"nodes": 2}},
        {"apiVersion": "sagemaker.amazonaws.com/v1", "kind": "InferenceEndpointConfig", "spec": {}},
    ],
    ids=lambda body: f"{body['apiVersion']} {body['kind']}",
)
def test_other_kinds_are_left_alone(body):
    body["metadata"] = {"name": "other"}
    assert _reviewed(body).verdicts == ()


def test_a_sidecar_may_be_without_accelerators():
    body = kubeflow_job()
    sidecar = {
        "name": "logs",
        "image": "444455556666.dkr.ecr.us-east-2.amazonaws.com/logs:1.0",
        "command": ["/bin/agent"],
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
    }
    replicas_of(body)["template"]["spec"]["containers"].insert(0, sidecar)
    assert container_of(body)["name"] == "logs"
    assert [finding.text() for finding in _reviewed(body).findings] == []


def test_jobs_in_a_list_are_judged():
    body = kubeflow_job()
    del body["spec"]["elasticPolicy"]["rdzvId"]
    listing = {"apiVersion": "v1", "kind": "List", "items": [kubeflow_job(), body]}
    (finding,) = _reviewed(listing).findings
    assert finding.rule_id == "RendezvousId"
