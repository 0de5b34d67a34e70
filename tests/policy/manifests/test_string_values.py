from __future__ import annotations

import pytest
from job_manifests import put

ID = "StringValues"
RESUME = "sagemaker.amazonaws.com~enable-job-auto-resume"
RETRIES = "sagemaker.amazonaws.com~job-max-retry-count"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (f"metadata/annotations/{RESUME}", True, 'true of type boolean; expected: text, such as "true"'),
        (f"metadata/annotations/{RETRIES}", 7, "7 of type number"),
        ("metadata/labels/run", 12, "12 of type number"),
        ("spec/nprocPerNode", 8, "8 of type number"),
        ("pod:nodeSelector/pool", False, "false of type boolean"),
        ("container:env/0/value", 1, "1 of type number"),
        ("container:args/1", 0.1, "0.1 of type number"),
        ("container:env/0/value", ["a"], "of type list; expected: text"),
        ("container:env/0/value", {"a": "b"}, "of type mapping"),
    ],
)
def test_what_is_no_text_fails(judge, kubeflow, path, value, message):
    (finding,) = judge(ID, put(kubeflow, path, value)).failures
    assert message in finding.message


def test_the_other_operators_process_count_is_text_too(judge, hyperpod):
    (finding,) = judge(ID, put(hyperpod, "spec/nprocPerNode", 8)).failures
    assert finding.path == ("spec", "nprocPerNode")


def test_labels_of_pods_count(judge, kubeflow):
    put(kubeflow, "replicas:template/metadata/labels/run", 3)
    assert judge(ID, kubeflow).failures[0].path[-2:] == ("labels", "run")


def test_an_intrinsic_function_is_undetermined(judge, kubeflow):
    assert judge(ID, put(kubeflow, "container:env/0/value", {"Ref": "Bucket"})).outcome(ID) == "undetermined"


def test_text_and_nothing_comply(judge, kubeflow):
    put(kubeflow, "container:env/0/value", None)
    put(
        kubeflow,
        "container:env/1",
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    )
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_the_value_of_a_toleration_is_text(judge, kubeflow):
    toleration = {"key": "gpu", "operator": "Equal", "value": True, "effect": "NoSchedule"}
    (finding,) = judge(ID, put(kubeflow, "pod:tolerations/0", toleration)).failures
    assert 'true of type boolean; expected: text, such as "true"' in finding.message
