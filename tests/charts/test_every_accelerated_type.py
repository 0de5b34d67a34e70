"""Jobs of every accelerated instance type of the catalog."""

from __future__ import annotations

from typing import Any

import pytest
from kubernetes_schemas import needs_crds, refusals
from kubernetes_schemas.quantities import amount
from plain_jobs import HYPERPOD, SPOTLESS
from rendered_jobs import objects_of

from hyperpod_model.catalog.instances import InstanceType, accelerated_instance_types, instance_type
from hyperpod_model.job_spec import JobSpec, NodeSetup

Body = dict[str, Any]

TYPES = accelerated_instance_types()
OPERATORS = {"kubeflow": {}, "hyperpod": HYPERPOD}
GIB = 1024**3


def job(name: str, **changes: Any) -> JobSpec:
    return JobSpec.model_validate(SPOTLESS | {"instance_type": name} | changes)


def pod(body: Body) -> Body:
    spec = body["spec"]
    replicas = (
        spec["pytorchReplicaSpecs"]["Worker"] if "pytorchReplicaSpecs" in spec else spec["replicaSpecs"][0]
    )
    found: Body = replicas["template"]["spec"]
    return found


def requests(spec: JobSpec) -> dict[str, str]:
    resources = pod(objects_of(spec)[0])["containers"][0]["resources"]
    assert resources["requests"] == resources["limits"]
    found: dict[str, str] = resources["requests"]
    return found


def efa_interfaces(known: InstanceType) -> int:
    return known.efa_interfaces.if_certain(0)


def test_the_catalog_has_types():
    assert {"ml.p5.48xlarge", "ml.p5en.48xlarge", "ml.trn1.32xlarge", "ml.g5.12xlarge"} <= set(TYPES)


@needs_crds
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", TYPES)
def test_a_server_takes_them(name: str, operator: str):
    found = {body["kind"]: refusals(body) for body in objects_of(job(name, **OPERATORS[operator]))}
    assert len(found) == 2
    assert not any(found.values()), found


@pytest.mark.parametrize("name", TYPES)
def test_a_pod_takes_all_devices_of_a_node_and_runs_on_no_other_type(name: str):
    known = instance_type(name)
    assert known.accelerator is not None
    body = objects_of(job(name))[0]
    asked = pod(body)["containers"][0]["resources"]["requests"]
    assert asked[known.accelerator.kubernetes_resource] == str(known.accelerator.count)
    assert asked.get("vpc.amazonaws.com/efa", "0") == str(efa_interfaces(known))
    assert pod(body)["nodeSelector"]["node.kubernetes.io/instance-type"] == name
    assert {said["key"] for said in pod(body)["tolerations"]} >= {
        "nvidia.com/gpu" if known.accelerator.kind == "gpu" else "aws.amazon.com/neuron"
    }
    cores = {"ml.trn1.32xlarge": 32, "ml.p5.48xlarge": 8}
    if name in cores:
        assert body["spec"]["nprocPerNode"] == str(cores[name])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", TYPES)
def test_what_pods_ask_for_fits_a_node_with_room_for_the_system(name: str, threads: int):
    known = instance_type(name)
    if known.threads_per_core_fixed is not None and known.threads_per_core_fixed != threads:
        threads = known.threads_per_core_fixed
    asked = job(name).resources(NodeSetup(threads_per_core=threads)).quantities()
    vcpu = known.vcpu if threads == (known.threads_per_core_fixed or 2) else known.vcpu / 2
    memory = amount(asked["memory"]) + amount(asked.get("hugepages-2Mi", "0"))
    assert 0 < amount(asked["cpu"]) < vcpu
    assert 0 < memory < known.memory_gib * GIB
    # Most of a node is the job's: what is left is for the system.
    assert float(memory) > 2 / 3 * known.memory_gib * GIB


@pytest.mark.parametrize("name", TYPES)
def test_shared_memory_is_part_of_the_memory(name: str):
    body = objects_of(job(name))[0]
    (shared,) = (volume["emptyDir"] for volume in pod(body)["volumes"] if "emptyDir" in volume)
    assert shared["medium"] == "Memory"
    assert 0 < amount(shared["sizeLimit"]) < amount(requests(job(name))["memory"])


@pytest.mark.parametrize("name", TYPES)
def test_the_flag_for_rdma_is_set_only_where_efa_has_it(name: str):
    known = instance_type(name)
    container = pod(objects_of(job(name))[0])["containers"][0]
    variables = {said["name"]: said["value"] for said in container["env"]}
    has_efa = efa_interfaces(known) > 0
    assert (variables.get("FI_PROVIDER") == "efa") == has_efa
    assert ("FI_EFA_USE_DEVICE_RDMA" in variables) == (has_efa and known.rdma_read)
    assert ("hugepages-2Mi" in container["resources"]["requests"]) == has_efa


@needs_crds
@pytest.mark.parametrize("name", [name for name in TYPES if instance_type(name).mig_profiles])
def test_a_server_takes_pods_on_each_partition(name: str):
    for profile in instance_type(name).mig_profiles:
        spec = job(name, nodes=1, gpu_partition=profile, accelerators=1)
        body = objects_of(spec)[0]
        asked = pod(body)["containers"][0]["resources"]["requests"]
        assert (asked[f"nvidia.com/{profile}"], "nvidia.com/gpu" in asked) == ("1", False)
        assert refusals(body) == []


@needs_crds
@pytest.mark.parametrize("name", [name for name in TYPES if instance_type(name).accelerator.count > 1])  # type: ignore[union-attr]
def test_a_server_takes_pods_on_a_part_of_a_node(name: str):
    known = instance_type(name)
    assert known.accelerator is not None
    half = known.accelerator.count // 2
    spec = job(name, nodes=1, accelerators=half)
    whole, part = requests(job(name)), requests(spec)
    assert part[known.accelerator.kubernetes_resource] == str(half)
    assert amount(part["memory"]) <= amount(whole["memory"]) / 2
    assert refusals(objects_of(spec)[0]) == []
