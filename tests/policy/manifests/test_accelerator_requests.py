from __future__ import annotations

import pytest
from job_manifests import put, set_resource

ID = "AcceleratorRequests"
SELECTOR = "pod:nodeSelector/node.kubernetes.io~instance-type"


@pytest.mark.parametrize(
    ("instance_type", "resource", "amount", "message"),
    [
        ("ml.g5.12xlarge", "nvidia.com/gpu", 8, "8 of nvidia.com/gpu on ml.g5.12xlarge; expected: 4 at most"),
        ("ml.trn1.32xlarge", "nvidia.com/gpu", 8, "nvidia.com/gpu on ml.trn1.32xlarge"),
        ("ml.p5.48xlarge", "aws.amazon.com/neurondevice", 16, "expected: nvidia.com/gpu, nvidia.com/mig-"),
        ("ml.m5.2xlarge", "nvidia.com/gpu", 1, "nvidia.com/gpu on ml.m5.2xlarge, which has none"),
        ("ml.p5.48xlarge", "nvidia.com/mig-1g.5gb", 2, "nvidia.com/mig-1g.5gb on ml.p5.48xlarge"),
    ],
)
def test_what_the_type_lacks_fails(judge, kubeflow, instance_type, resource, amount, message):
    set_resource(kubeflow, "nvidia.com/gpu", None)
    set_resource(kubeflow, resource, amount)
    (finding,) = judge(ID, put(kubeflow, SELECTOR, instance_type)).failures
    assert message in finding.message
    assert finding.severity == "error"


def test_no_accelerator_on_a_type_that_has_some_is_a_warning(judge, kubeflow):
    set_resource(kubeflow, "nvidia.com/gpu", None)
    (finding,) = judge(ID, kubeflow).failures
    assert finding.severity == "warning"
    assert "no accelerator on ml.p5.48xlarge, which has 8 NVIDIA H100" in finding.message


@pytest.mark.parametrize(
    ("instance_type", "resource", "amount"),
    [
        ("ml.p5.48xlarge", "nvidia.com/gpu", 4),
        ("ml.p5.48xlarge", "nvidia.com/mig-1g.10gb", 2),
        ("ml.trn2.48xlarge", "aws.amazon.com/neurondevice", 16),
    ],
)
def test_what_the_type_has_complies(judge, kubeflow, instance_type, resource, amount):
    set_resource(kubeflow, "nvidia.com/gpu", None)
    set_resource(kubeflow, resource, amount)
    assert judge(ID, put(kubeflow, SELECTOR, instance_type)).outcome(ID) == "pass"


@pytest.mark.parametrize("value", [..., "ml.p9.48xlarge", "${TYPE}"])
def test_without_a_known_type_nothing_is_said(judge, kubeflow, value):
    set_resource(kubeflow, "nvidia.com/gpu", 1000)
    assert judge(ID, put(kubeflow, SELECTOR, value)).verdicts == ()


@pytest.mark.parametrize("resource", ["aws.amazon.com/neuron", "aws.amazon.com/neuroncore"])
def test_other_names_of_neuron_devices_are_devices(judge, kubeflow, resource):
    put(kubeflow, "pod:nodeSelector/node.kubernetes.io~instance-type", "ml.trn1.32xlarge")
    set_resource(kubeflow, "nvidia.com/gpu", None)
    set_resource(kubeflow, resource, 16)
    assert not judge(ID, kubeflow).failures


def test_too_many_neuron_devices_fail_under_either_name(judge, kubeflow):
    put(kubeflow, SELECTOR, "ml.trn1.32xlarge")
    set_resource(kubeflow, "nvidia.com/gpu", None)
    set_resource(kubeflow, "aws.amazon.com/neuron", 17)
    (finding,) = judge(ID, kubeflow).failures
    assert "17 of aws.amazon.com/neuron" in finding.message
