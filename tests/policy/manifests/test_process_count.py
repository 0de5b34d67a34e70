from __future__ import annotations

import pytest
from job_manifests import put, set_resource

ID = "ProcessCount"


@pytest.mark.parametrize(
    ("count", "severity", "message"),
    [
        ("16", "error", "16 processes a pod for 8 GPUs or Neuron cores; expected: auto, cpu, gpu or 8"),
        ("4", "warning", "4 processes a pod for 8"),
        ("0", "error", "'0' processes"),
        ("all", "error", "'all' processes"),
    ],
)
def test_a_count_that_does_not_fit_the_accelerators_fails(judge, kubeflow, count, severity, message):
    (finding,) = judge(ID, put(kubeflow, "spec/nprocPerNode", count)).failures
    assert (finding.severity, finding.path) == (severity, ("spec", "nprocPerNode"))
    assert message in finding.message


def test_the_option_wins_over_the_member(judge, kubeflow):
    put(kubeflow, "container:command", ["torchrun", "--nproc_per_node=4"])
    (finding,) = judge(ID, kubeflow).failures
    assert finding.path[-1] == "command"
    put(kubeflow, "container:command", ["torchrun", "--nproc-per-node", "8"])
    assert judge(ID, put(kubeflow, "spec/nprocPerNode", "3")).outcome(ID) == "pass"


def test_the_policys_own_member_counts(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, "spec/elasticPolicy/nProcPerNode", 2)).failures
    assert finding.path == ("spec", "elasticPolicy", "nProcPerNode")


@pytest.mark.parametrize("resource", ["aws.amazon.com/neurondevice", "aws.amazon.com/neuron"])
@pytest.mark.parametrize(("count", "outcome"), [("32", "pass"), ("16", "fail")])
def test_trainium_has_a_process_for_each_core(judge, kubeflow, count, outcome, resource):
    put(kubeflow, "pod:nodeSelector/node.kubernetes.io~instance-type", "ml.trn1.32xlarge")
    set_resource(kubeflow, "nvidia.com/gpu", None)
    set_resource(kubeflow, resource, 16)
    assert judge(ID, put(kubeflow, "spec/nprocPerNode", count)).outcome(ID) == outcome


@pytest.mark.parametrize("count", ["${GPUS}", "{{ gpus }}"])
def test_a_count_that_is_filled_in_later_is_undetermined(judge, kubeflow, count):
    assert judge(ID, put(kubeflow, "spec/nprocPerNode", count)).outcome(ID) == "undetermined"


@pytest.mark.parametrize("count", ["auto", "gpu", "cpu", ...])
def test_a_count_that_the_launcher_finds_is_left_alone(judge, kubeflow, count):
    assert judge(ID, put(kubeflow, "spec/nprocPerNode", count)).verdicts == ()


def test_a_pod_without_accelerators_may_have_any_count(judge, kubeflow):
    set_resource(kubeflow, "nvidia.com/gpu", None)
    assert judge(ID, put(kubeflow, "spec/nprocPerNode", "3")).outcome(ID) == "pass"
