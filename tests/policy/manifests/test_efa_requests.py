from __future__ import annotations

import pytest
from job_manifests import put, set_resource

from hyperpod_model.catalog.instances import accelerated_instance_types, instance_type
from hyperpod_policy.manifests.placing import efa_interfaces

ID = "EfaRequests"
EFA = "vpc.amazonaws.com/efa"
SELECTOR = "pod:nodeSelector/node.kubernetes.io~instance-type"


def _on(body, name, efa):
    known = instance_type(name)
    set_resource(body, "nvidia.com/gpu", None)
    set_resource(body, known.accelerator.kubernetes_resource, known.accelerator.count)
    set_resource(body, EFA, efa)
    return put(body, SELECTOR, name)


@pytest.mark.parametrize("name", accelerated_instance_types())
def test_exactly_the_count_of_the_type_complies(judge, kubeflow, name):
    has = efa_interfaces(instance_type(name))
    assert judge(ID, _on(kubeflow, name, has if has else None)).outcome(ID) == "pass"
    (finding,) = judge(ID, _on(kubeflow, name, has + 1)).failures
    assert f"{has + 1} EFA interfaces on {name}, which has {has if has else 'none'}" in finding.message
    if has > 1:
        (finding,) = judge(ID, _on(kubeflow, name, 1)).failures
        assert f"1 of the {has} EFA interfaces of {name}; expected: {EFA}: {has}" in finding.message


def test_a_distributed_job_without_efa_runs_on_tcp(judge, kubeflow):
    (finding,) = judge(ID, _on(kubeflow, "ml.p5.48xlarge", None)).failures
    assert (
        "none of the 32 EFA interfaces of ml.p5.48xlarge, so that NCCL falls back to TCP" in finding.message
    )
    assert finding.severity == "error"


def test_a_job_of_one_pod_needs_none(judge, kubeflow):
    put(put(kubeflow, "replicas:replicas", 1), "spec/elasticPolicy", ...)
    assert judge(ID, _on(kubeflow, "ml.p5.48xlarge", None)).outcome(ID) == "pass"


@pytest.mark.parametrize(("gpus", "efa", "outcome"), [(4, 16, "pass"), (4, 8, "fail"), (1, 4, "pass")])
def test_a_part_of_a_node_takes_its_share(judge, kubeflow, gpus, efa, outcome):
    set_resource(kubeflow, "nvidia.com/gpu", gpus)
    set_resource(kubeflow, EFA, efa)
    assert judge(ID, kubeflow).outcome(ID) == outcome


@pytest.mark.parametrize("value", [..., "${TYPE}"])
def test_without_a_type_it_depends_on_what_the_pod_asks_for(judge, kubeflow, value):
    put(kubeflow, SELECTOR, value)
    assert judge(ID, kubeflow).outcome(ID) == "pass"  # every type with 32 interfaces has no more
    for efa in (None, 1, 16):
        set_resource(kubeflow, EFA, efa)
        assert judge(ID, kubeflow).outcome(ID) == "undetermined"


def test_a_type_without_its_prefix_is_known_all_the_same(judge, kubeflow):
    set_resource(kubeflow, EFA, 1)
    assert (
        "1 of the 32 EFA interfaces" in judge(ID, put(kubeflow, SELECTOR, "p5.48xlarge")).failures[0].message
    )


def test_of_an_unknown_type_nobody_can_tell(judge, kubeflow):
    assert judge(ID, put(kubeflow, SELECTOR, "ml.p9.48xlarge")).outcome(ID) == "undetermined"


def test_a_count_that_is_filled_in_later_is_left_to_the_rule_on_resources(judge, kubeflow):
    set_resource(kubeflow, EFA, "${EFA}")
    assert judge(ID, kubeflow).verdicts == ()


def test_pods_without_accelerators_and_efa_are_left_alone(judge, kubeflow):
    set_resource(kubeflow, EFA, None)
    set_resource(kubeflow, "nvidia.com/gpu", None)
    assert judge(ID, kubeflow).verdicts == ()
