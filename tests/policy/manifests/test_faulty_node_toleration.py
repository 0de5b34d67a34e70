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
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"},
        {
            "key": "node.kubernetes.io/unreachable",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 60,
        },
        {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoExecute"},
        {"key": KEY, "value": "Schedulable"},
        {"key": "aws.amazon.com/neuron", "operator": "Exists"},
    ],
)
def test_other_taints_may_be_tolerated(judge, kubeflow, toleration):
    assert judge(ID, put(kubeflow, "pod:tolerations/1", toleration)).outcome(ID) == "pass"


@pytest.mark.parametrize("effect", [{}, {"effect": "NoSchedule"}])
def test_the_taint_of_cordoned_nodes_fails(judge, kubeflow, effect):
    toleration = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", **effect}
    (finding,) = judge(ID, put(kubeflow, "pod:tolerations/1", toleration)).failures
    assert "node.kubernetes.io/unschedulable is tolerated, which a cordoned node has" in finding.message
    assert finding.severity == "error"


@pytest.mark.parametrize(
    ("toleration", "what"),
    [
        ({"operator": "Exists", "effect": "NoExecute"}, "every taint of effect NoExecute"),
        ({"key": "node.kubernetes.io/unreachable", "operator": "Exists"}, "node.kubernetes.io/unreachable"),
        (
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
            "node.kubernetes.io/not-ready",
        ),
    ],
)
def test_staying_on_a_node_that_is_gone_is_a_warning(judge, kubeflow, toleration, what):
    (finding,) = judge(ID, put(kubeflow, "pod:tolerations/1", toleration)).failures
    assert f"{what} is tolerated without an end" in finding.message
    assert finding.severity == "warning"
