from __future__ import annotations

import pytest
from job_manifests import pod_spec, put, set_resource, tiered_job

from hyperpod_model.catalog.instances import accelerated_instance_types, instance_type
from hyperpod_model.catalog.pod_resources import pod_memory_gib

ID = "NodeCapacity"
SELECTOR = "pod:nodeSelector/node.kubernetes.io~instance-type"


@pytest.mark.parametrize("name", accelerated_instance_types())
def test_all_memory_of_the_type_fits_on_no_node(judge, kubeflow, name):
    known = instance_type(name)
    put(kubeflow, SELECTOR, name)
    set_resource(kubeflow, "cpu", 1)
    set_resource(kubeflow, "memory", f"{int(known.memory_gib)}Gi")
    (finding,) = judge(ID, kubeflow).failures
    assert f"{pod_memory_gib(known)} GiB at most, which the system leaves" in finding.message
    set_resource(kubeflow, "memory", f"{pod_memory_gib(known)}Gi")
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_the_memory_tier_takes_its_share(judge, kubeflow):
    set_resource(kubeflow, "memory", "1600Gi")
    assert judge(ID, kubeflow).outcome(ID) == "pass"
    body = tiered_job()
    set_resource(body, "memory", "1600Gi")
    (finding,) = judge(ID, body).failures
    assert "beside the 20 % or more of tiered checkpoints" in finding.message


@pytest.mark.parametrize(
    ("cpus", "outcome"), [("89", "pass"), ("96", "undetermined"), ("179", "undetermined"), ("192", "fail")]
)
def test_cpus_depend_on_the_threads_of_a_core(judge, kubeflow, cpus, outcome):
    set_resource(kubeflow, "cpu", cpus)
    report = judge(ID, kubeflow)
    assert report.outcome(ID) == outcome
    if outcome == "undetermined":
        assert "fit only with two threads a core" in report.findings[0].message


def test_all_containers_of_the_pod_count(judge, kubeflow):
    limits = {"memory": "600Gi"}
    pod_spec(kubeflow)["containers"].append({"name": "cache", "resources": {"limits": limits}})
    assert "2000 GiB of memory on ml.p5.48xlarge" in judge(ID, kubeflow).failures[0].message


def test_of_an_unknown_type_nothing_is_said(judge, kubeflow):
    set_resource(kubeflow, "memory", "9Ti")
    assert judge(ID, put(kubeflow, SELECTOR, "ml.p9.48xlarge")).verdicts == ()


@pytest.mark.parametrize("value", [..., "${TYPE}"])
def test_what_fits_on_no_type_with_these_devices_is_told(judge, kubeflow, value):
    put(kubeflow, SELECTOR, value)
    assert judge(ID, kubeflow).verdicts == ()
    set_resource(kubeflow, "cpu", "96")
    (finding,) = judge(ID, kubeflow).findings
    assert "96 CPUs on ml.p5.48xlarge, which fit only with two threads a core" in finding.message
    set_resource(kubeflow, "vpc.amazonaws.com/efa", 1)
    set_resource(kubeflow, "nvidia.com/gpu", 1)
    set_resource(kubeflow, "memory", "10Gi")
    assert judge(ID, kubeflow).verdicts == ()  # some types with one GPU have more cores


def _beside(body, member, **resources):
    extra = {"name": "beside", "image": "public.ecr.aws/a/b:1.0", **resources.pop("also", {})}
    return put(body, f"pod:{member}", [*pod_spec(body).get(member, []), {**extra, "resources": resources}])


@pytest.mark.parametrize(
    ("member", "also", "memory", "fits"),
    [
        ("containers", {}, "900Gi", False),
        ("initContainers", {"restartPolicy": "Always"}, "900Gi", False),
        ("initContainers", {}, "900Gi", True),
        ("initContainers", {}, "2040Gi", False),
        ("initContainers", {"restartPolicy": "Always"}, "10Gi", True),
    ],
)
def test_init_containers_count_as_the_scheduler_counts(judge, kubeflow, member, also, memory, fits):
    report = judge(ID, _beside(kubeflow, member, also=also, limits={"memory": memory}))
    assert report.outcome(ID) == ("pass" if fits else "fail")


@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "vpc.amazonaws.com/efa"])
def test_devices_of_all_containers_count_together(judge, kubeflow, resource):
    (finding,) = judge(ID, _beside(kubeflow, "containers", limits={resource: 1})).failures
    assert f"of {resource} in all containers together on ml.p5.48xlarge" in finding.message
