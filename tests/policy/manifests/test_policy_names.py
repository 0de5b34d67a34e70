from __future__ import annotations

import pytest
from job_manifests import put

ID = "PolicyNames"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("spec/runPolicy/cleanPodPolicy", "running", "cleanPodPolicy 'running'; did you mean Running"),
        ("spec/runPolicy/cleanPodPolicy", "OnlyComplete", "expected: All, Running, None"),
        ("spec/elasticPolicy/rdzvBackend", "C10D", "did you mean c10d"),
        ("spec/elasticPolicy/rdzvBackend", "hyperpod", "rdzvBackend 'hyperpod'"),
        ("replicas:restartPolicy", "OnFailed", "did you mean OnFailure"),
        ("pod:restartPolicy", "ExitCode", "expected: Always, OnFailure, Never"),
        ("pod:dnsPolicy", "ClusterFirstWithHostNetwork", "did you mean ClusterFirstWithHostNet"),
        ("container:imagePullPolicy", "IfNotPresents", "did you mean IfNotPresent"),
    ],
)
def test_a_name_that_does_not_exist_fails(judge, kubeflow, path, value, message):
    (finding,) = judge(ID, put(kubeflow, path, value)).failures
    assert message in finding.message


def test_each_operator_has_clean_up_policies_of_its_own(judge, hyperpod):
    assert judge(ID, put(hyperpod, "spec/runPolicy/cleanPodPolicy", "Running")).outcome(ID) == "fail"
    assert judge(ID, put(hyperpod, "spec/runPolicy/cleanPodPolicy", "OnlyComplete")).outcome(ID) == "pass"


def test_a_name_that_is_filled_in_later_is_undetermined(judge, kubeflow):
    put(kubeflow, "replicas:restartPolicy", "{{ .Values.restartPolicy }}")
    assert judge(ID, kubeflow).outcome(ID) == "undetermined"


def test_absent_policies_comply(judge, kubeflow):
    put(kubeflow, "spec/runPolicy", ...)
    assert judge(ID, put(kubeflow, "replicas:restartPolicy", "ExitCode")).outcome(ID) == "pass"
