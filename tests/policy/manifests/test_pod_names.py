from __future__ import annotations

import pytest
from job_manifests import put

ID = "PodNames"


@pytest.mark.parametrize(
    ("length", "outcome"),
    [(54, "pass"), (55, "fail"), (63, "fail")],
)
def test_the_name_of_the_last_pod_has_63_characters_at_most(judge, kubeflow, length, outcome):
    report = judge(ID, put(kubeflow, "metadata/name", "a" * length))
    assert report.outcome(ID) == outcome
    for finding in report.failures:
        assert "so a job name of 54" in finding.message


def test_more_pods_leave_less_for_the_name(judge, kubeflow):
    put(put(kubeflow, "metadata/name", "a" * 54), "replicas:replicas", 11)
    assert "so a job name of 53" in judge(ID, kubeflow).failures[0].message


def test_names_of_replicas_count(judge, hyperpod):
    put(put(hyperpod, "metadata/name", "a" * 50), "replicas:name", "trainers-of-the-model")
    assert judge(ID, hyperpod).outcome(ID) == "fail"


@pytest.mark.parametrize("name", ["1-vision", "Vision", "vision_ddp", "vision-", "vision.ddp"])
def test_a_name_that_is_none_fails(judge, kubeflow, name):
    assert f"name '{name}'" in judge(ID, put(kubeflow, "metadata/name", name)).failures[0].message


def test_generated_names_count_with_what_is_added(judge, kubeflow):
    put(put(kubeflow, "metadata/name", ...), "metadata/generateName", "a" * 48 + "-")
    assert judge(ID, kubeflow).outcome(ID) == "pass"
    assert judge(ID, put(kubeflow, "metadata/generateName", "a" * 49 + "-")).outcome(ID) == "fail"


def test_no_name_fails(judge, kubeflow):
    assert "no name" in judge(ID, put(kubeflow, "metadata/name", ...)).failures[0].message


def test_a_name_that_is_filled_in_later_is_undetermined(judge, kubeflow):
    assert judge(ID, put(kubeflow, "metadata/name", "vision-$USER")).outcome(ID) == "undetermined"
