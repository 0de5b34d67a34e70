from __future__ import annotations

import pytest

ID = "DisruptionBudget"


def _budget(**spec):
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "vision", "namespace": "kubeflow"},
        "spec": {"selector": {"matchLabels": {"app": "vision"}}, **spec},
    }


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"maxUnavailable": 0}, "maxUnavailable 0: no pod of PyTorchJob/vision may be evicted"),
        ({"maxUnavailable": "0%"}, "maxUnavailable '0%'"),
        ({"minAvailable": 3}, "minAvailable 3 of 3 pods"),
        ({"minAvailable": "100%"}, "minAvailable '100%'"),
    ],
)
def test_a_budget_that_blocks_the_drain_fails(judge, kubeflow, spec, message):
    (finding,) = judge(ID, kubeflow, _budget(**spec)).failures
    assert message in finding.message
    assert finding.logical_id == "PodDisruptionBudget/vision"


@pytest.mark.parametrize("spec", [{"maxUnavailable": 1}, {"minAvailable": 2}, {"minAvailable": "50%"}, {}])
def test_a_budget_that_leaves_a_pod_complies(judge, kubeflow, spec):
    assert judge(ID, kubeflow, _budget(**spec)).outcome(ID) == "pass"


def test_labels_of_the_operator_count(judge, kubeflow):
    name = "training.kubeflow.org/job-name"
    budget = _budget(maxUnavailable=0, selector={"matchLabels": {name: "vision"}})
    assert judge(ID, kubeflow, budget).outcome(ID) == "fail"
    wanted = {"key": "app", "operator": "NotIn", "values": ["vision"]}
    budget = _budget(maxUnavailable=0, selector={"matchExpressions": [wanted]})
    assert judge(ID, kubeflow, budget).verdicts == ()


def test_budgets_of_other_pods_are_left_alone(judge, kubeflow):
    other = _budget(maxUnavailable=0, selector={"matchLabels": {"app": "web"}})
    elsewhere = _budget(maxUnavailable=0)
    elsewhere["metadata"]["namespace"] = "web"
    assert judge(ID, kubeflow, other, elsewhere, _budget(selector={}, maxUnavailable=0)).verdicts == ()
