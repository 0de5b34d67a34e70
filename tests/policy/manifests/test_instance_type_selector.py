from __future__ import annotations

import pytest
from job_manifests import put, set_resource

ID = "InstanceTypeSelector"
SELECTOR = "pod:nodeSelector/node.kubernetes.io~instance-type"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("p5.48xlarge", "'p5.48xlarge' without the prefix ml.; expected: ml.p5.48xlarge"),
        ("ml.p5.48xlrge", "no instance type of HyperPod; did you mean ml.p5.48xlarge"),
        ("ml.trn2u.48xlarge", "no instance type of HyperPod"),
    ],
)
def test_a_type_that_no_node_has_fails(judge, kubeflow, value, message):
    (finding,) = judge(ID, put(kubeflow, SELECTOR, value)).failures
    assert message in finding.message
    assert finding.severity == "error"


def test_no_selector_is_a_warning_that_names_where_pods_may_land(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, SELECTOR, ...)).failures
    assert finding.severity == "warning"
    assert "may land on ml.p5.48xlarge, ml.p5e.48xlarge" in finding.message


def test_a_request_that_no_type_fulfils_is_told(judge, kubeflow):
    set_resource(kubeflow, "vpc.amazonaws.com/efa", 33)
    (finding,) = judge(ID, put(kubeflow, SELECTOR, ...)).failures
    assert "none in the catalog has what the pod asks for" in finding.message


def _affinity(*values):
    terms = [
        {
            "matchExpressions": [
                {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [value]}
            ]
        }
        for value in values
    ]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def test_required_affinity_counts_as_well(judge, kubeflow):
    put(
        put(kubeflow, SELECTOR, ...), "pod:affinity/nodeAffinity", _affinity("ml.p5.48xlarge", "p5e.48xlarge")
    )
    (finding,) = judge(ID, kubeflow).failures
    assert "'p5e.48xlarge' without the prefix" in finding.message
    put(kubeflow, "pod:affinity/nodeAffinity", _affinity("ml.p5.48xlarge", "ml.p5e.48xlarge"))
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_the_labels_former_name_counts(judge, kubeflow):
    put(put(kubeflow, SELECTOR, ...), "pod:nodeSelector/beta.kubernetes.io~instance-type", "ml.p5.48xlarge")
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_a_type_that_is_filled_in_later_is_undetermined(judge, kubeflow):
    assert judge(ID, put(kubeflow, SELECTOR, "${INSTANCE_TYPE}")).outcome(ID) == "undetermined"


def test_pods_without_accelerators_need_no_type(judge, kubeflow):
    set_resource(kubeflow, "nvidia.com/gpu", None)
    assert judge(ID, put(kubeflow, SELECTOR, ...)).outcome(ID) == "pass"
