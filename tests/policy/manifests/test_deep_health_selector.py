from __future__ import annotations

import pytest
from job_manifests import put

ID = "DeepHealthSelector"
SELECTOR = "pod:nodeSelector/sagemaker.amazonaws.com~deep-health-check-status"


def test_only_the_cluster_tells_whether_nodes_are_checked(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, SELECTOR, "Passed")).findings
    assert finding.outcome == "undetermined"
    assert "where the instance group has deep health checks" in finding.message


@pytest.mark.parametrize("value", ["passed", "Failed", "InProgress", True])
def test_another_value_fails(judge, kubeflow, value):
    assert judge(ID, put(kubeflow, SELECTOR, value)).outcome(ID) == "fail"


def test_jobs_without_the_selector_are_left_alone(judge, kubeflow, hyperpod):
    assert judge(ID, kubeflow, hyperpod).verdicts == ()
