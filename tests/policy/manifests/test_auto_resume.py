from __future__ import annotations

import pytest
from job_manifests import master_job, put

ID = "AutoResume"
RESUME = "metadata/annotations/sagemaker.amazonaws.com~enable-job-auto-resume"


@pytest.mark.parametrize(("value", "found"), [(..., "no annotation"), ("false", "'false'"), (False, "false")])
def test_a_job_that_is_not_resumed_is_a_warning(judge, kubeflow, value, found):
    (finding,) = judge(ID, put(kubeflow, RESUME, value)).failures
    assert finding.found == found
    assert finding.severity == "warning"


def test_the_value_is_in_lower_case(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, RESUME, "True")).failures
    assert finding.severity == "error"


@pytest.mark.parametrize(
    ("namespace", "outcome"),
    [
        ("kubeflow", "pass"),
        ("hyperpod-ns-vision", "pass"),
        ("hyperpod", "pass"),
        ("research", "fail"),
        ("kubeflow-jobs", "fail"),
        (..., "undetermined"),
        ("${NAMESPACE}", "undetermined"),
    ],
)
def test_jobs_are_resumed_in_some_namespaces(judge, kubeflow, namespace, outcome):
    report = judge(ID, put(kubeflow, "metadata/namespace", namespace))
    assert report.outcome(ID) == outcome
    assert all(finding.path == ("metadata", "namespace") for finding in report.findings)


@pytest.mark.parametrize("policy", ["Always", "Never", "ExitCode", ...])
def test_each_replica_type_restarts_on_failure(judge, policy):
    body = put(master_job(), "spec/pytorchReplicaSpecs/Master/restartPolicy", policy)
    (finding,) = judge(ID, body).failures
    assert finding.path == ("spec", "pytorchReplicaSpecs", "Master", "restartPolicy")
    assert "expected: OnFailure" in finding.message


def test_where_it_is_off_namespace_and_policies_are_free(judge, kubeflow):
    put(put(kubeflow, RESUME, ...), "metadata/namespace", "research")
    assert len(judge(ID, put(kubeflow, "replicas:restartPolicy", "Never")).failures) == 1


def test_an_annotation_that_is_filled_in_later_is_undetermined(judge, kubeflow):
    assert judge(ID, put(kubeflow, RESUME, "${RESUME}")).outcome(ID) == "undetermined"


def test_a_boolean_counts_as_on(judge, kubeflow):
    assert (
        judge(ID, put(kubeflow, RESUME, True)).outcome(ID) == "pass"
    )  # StringValues tells that it is no text


def test_hyperpods_operator_needs_no_annotation(judge, hyperpod):
    assert judge(ID, hyperpod).verdicts == ()
