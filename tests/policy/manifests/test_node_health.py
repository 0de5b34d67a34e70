from __future__ import annotations

import pytest
from job_manifests import put

ID = "NodeHealthSelector"
SELECTOR = "pod:nodeSelector/sagemaker.amazonaws.com~node-health-status"


@pytest.mark.parametrize("value", ["Unschedulable", "schedulable", "Healthy"])
def test_nodes_that_are_not_healthy_fail(judge, kubeflow, value):
    (finding,) = judge(ID, put(kubeflow, SELECTOR, value)).failures
    assert finding.severity == "error"
    assert "expected: sagemaker.amazonaws.com/node-health-status: Schedulable" in finding.message


def test_any_node_is_a_warning(judge, hyperpod):
    (finding,) = judge(ID, put(hyperpod, SELECTOR, ...)).failures
    assert finding.severity == "warning"
    assert "no selector for healthy nodes" in finding.message


@pytest.mark.parametrize(
    ("values", "outcome"), [(["Schedulable"], "pass"), (["Schedulable", "Unschedulable"], "fail")]
)
def test_required_affinity_counts(judge, kubeflow, values, outcome):
    expression = {"key": "sagemaker.amazonaws.com/node-health-status", "operator": "In", "values": values}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    put(
        put(kubeflow, SELECTOR, ...),
        "pod:affinity/nodeAffinity",
        {"requiredDuringSchedulingIgnoredDuringExecution": required},
    )
    assert judge(ID, kubeflow).outcome(ID) == outcome


def test_one_term_without_it_lets_any_node_in(judge, kubeflow):
    expression = {
        "key": "sagemaker.amazonaws.com/node-health-status",
        "operator": "In",
        "values": ["Schedulable"],
    }
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}, {"matchExpressions": []}]}
    put(
        put(kubeflow, SELECTOR, ...),
        "pod:affinity/nodeAffinity",
        {"requiredDuringSchedulingIgnoredDuringExecution": required},
    )
    assert judge(ID, kubeflow).outcome(ID) == "fail"


def test_a_value_that_is_filled_in_later_is_undetermined(judge, kubeflow):
    assert judge(ID, put(kubeflow, SELECTOR, "${HEALTH}")).outcome(ID) == "undetermined"


def test_a_node_by_its_name_fails(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, "pod:nodeName", "hyperpod-i-0123456789abcdef0")).failures
    assert "nodeName 'hyperpod-i-0123456789abcdef0': no scheduler looks" in finding.message
    assert (finding.severity, finding.path[-1]) == ("error", "nodeName")
