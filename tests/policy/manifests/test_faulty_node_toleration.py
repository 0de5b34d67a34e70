from __future__ import annotations

import pytest
from job_manifests import put

ID = "FaultyNodeToleration"
KEY = "sagemaker.amazonaws.com/node-health-status"


@pytest.mark.parametrize(
    ("toleration", "message"),
    [
        ({"operator": "Exists"}, "every taint is tolerated"),
        ({"operator": "Exists", "effect": "NoSchedule"}, "every taint is tolerated"),
        ({"key": KEY, "operator": "Exists"}, f"the taint {KEY} is tolerated"),
        ({"key": KEY, "value": "Unschedulable", "effect": "NoSchedule"}, f"the taint {KEY}"),
    ],
)
def test_a_tolerated_fault_fails(judge, kubeflow, toleration, message):
    (finding,) = judge(ID, put(kubeflow, "pod:tolerations/1", toleration)).failures
    assert message in finding.message


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists", "effect": "NoExecute"},
        {"key": KEY, "value": "Schedulable"},
        {"key": "aws.amazon.com/neuron", "operator": "Exists"},
    ],
)
def test_other_taints_may_be_tolerated(judge, kubeflow, toleration):
    assert judge(ID, put(kubeflow, "pod:tolerations/1", toleration)).outcome(ID) == "pass"
