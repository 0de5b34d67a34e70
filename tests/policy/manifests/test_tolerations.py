from __future__ import annotations

import pytest
from job_manifests import put

ID = "Tolerations"


@pytest.mark.parametrize(
    ("toleration", "message"),
    [
        ({"key": "a", "operator": "Exist"}, "operator 'Exist'; did you mean Exists; expected: Exists, Equal"),
        ({"key": "a", "operator": "Exists", "value": "b"}, "value 'b' beside operator Exists"),
        ({"value": "b"}, "operator Equal without key"),
        ({"key": "a", "value": "b", "effect": "NoScheduling"}, "did you mean NoSchedule"),
        (
            {"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5},
            "tolerationSeconds without effect NoExecute",
        ),
    ],
)
def test_one_that_the_server_refuses_fails(judge, kubeflow, toleration, message):
    (finding,) = judge(ID, put(kubeflow, "pod:tolerations/0", toleration)).failures
    assert message in finding.message
    assert "tolerations" in finding.path


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists"},
        {"key": "a", "value": "b"},
        {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        {"key": "a", "operator": "${OPERATOR}"},
    ],
)
def test_one_that_the_server_takes_complies(judge, kubeflow, toleration):
    assert judge(ID, put(kubeflow, "pod:tolerations/0", toleration)).outcome(ID) == "pass"
