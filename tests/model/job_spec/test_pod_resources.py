"""What pods ask for, over all accelerated instance types."""

from __future__ import annotations

from typing import Any

import pytest
from plain_jobs import DURABLE, SPOTLESS, TIERED

from hyperpod_model.catalog.instances import accelerated_instance_types, instance_type
from hyperpod_model.job_spec import JobSpec, NodeSetup

TYPES = accelerated_instance_types()


def job(**changes: Any) -> JobSpec:
    return JobSpec.model_validate(SPOTLESS | changes)


@pytest.mark.parametrize("name", TYPES)
def test_a_pod_has_a_node_to_itself_and_leaves_the_system_its_share(name: str) -> None:
    known = instance_type(name)
    assert known.accelerator is not None
    asked = job(instance_type=name).resources()
    assert asked.accelerators == known.accelerator.count
    assert asked.accelerator_resource == known.accelerator.kubernetes_resource
    assert asked.efa_interfaces == known.efa_interfaces.if_certain(0)
    assert (asked.huge_pages_mib > 0) == (asked.efa_interfaces > 0)
    assert 0 < asked.shared_memory_gib <= asked.memory_gib < known.memory_gib
    assert 0 < asked.vcpu < known.vcpu


@pytest.mark.parametrize("name", TYPES)
def test_two_threads_a_core_give_more_and_never_all(name: str) -> None:
    known = instance_type(name)
    asked = job(instance_type=name)
    single = asked.resources(NodeSetup(threads_per_core=1))
    double = asked.resources(NodeSetup(threads_per_core=2))
    assert asked.resources() == single
    assert single.vcpu <= double.vcpu < known.vcpu
    assert (single.vcpu < double.vcpu) == (known.threads_per_core_fixed is None)


@pytest.mark.parametrize("name", TYPES)
def test_a_share_of_the_memory_is_left_to_checkpoints(name: str) -> None:
    known = instance_type(name)
    all_of_it, rest = (
        job(instance_type=name),
        job(instance_type=name, tiered_checkpointing=TIERED, checkpoint=DURABLE),
    )
    taken = all_of_it.resources().memory_gib - rest.resources().memory_gib
    assert taken == pytest.approx(known.memory_gib * 0.2, abs=1)
    assert all_of_it.resources(NodeSetup(tiered_memory_percentage=20)) == rest.resources()
    assert rest.resources(NodeSetup(tiered_memory_percentage=0)) == all_of_it.resources()


@pytest.mark.parametrize(
    ("name", "processes"),
    [
        ("ml.p5.48xlarge", 8),
        ("ml.p5.4xlarge", 1),
        ("ml.trn1.32xlarge", 32),
        ("ml.trn1n.32xlarge", 32),
        ("ml.trn2.3xlarge", 4),
        ("ml.trn2.48xlarge", 64),
        ("ml.c5.4xlarge", 1),
    ],
)
def test_processes_a_node(name: str, processes: int) -> None:
    asked = job(instance_type=name)
    assert asked.resolved_processes_per_node == processes
    assert asked.launch().nproc_per_node == str(processes)


def test_the_quantities_of_p5() -> None:
    assert job().resources(NodeSetup(threads_per_core=2)).quantities() == {
        "nvidia.com/gpu": "8",
        "vpc.amazonaws.com/efa": "32",
        "hugepages-2Mi": "5120Mi",
        "cpu": "179",
        "memory": "1880Gi",
    }


def test_the_quantities_of_a_type_without_accelerators_and_efa() -> None:
    assert job(instance_type="ml.c5.4xlarge").resources().quantities() == {"cpu": "7", "memory": "24Gi"}


def test_a_part_of_a_node_gets_its_part_of_everything() -> None:
    asked = job(accelerators=2, nodes=4).resources()
    whole = job().resources()
    assert (asked.accelerators, asked.efa_interfaces) == (2, 8)
    assert asked.vcpu * 4 <= whole.vcpu
    assert asked.memory_gib * 4 <= whole.memory_gib
    assert asked.huge_pages_mib * 4 <= 10256
    assert asked.huge_pages_mib % 2 == 0
    assert job(accelerators=2, nodes=4).resolved_processes_per_node == 2


def test_a_partition_of_a_gpu() -> None:
    asked = job(gpu_partition="mig-3g.40gb", accelerators=2, nodes=1)
    resources = asked.resources()
    assert resources.quantities() == {
        "nvidia.com/mig-3g.40gb": "2",
        "cpu": str(89 * 6 // 56),
        "memory": f"{1880 * 6 // 56}Gi",
    }
    assert asked.resolved_processes_per_node == 2
    assert asked.placement().node_selector["nvidia.com/mig.config.state"] == "success"


def test_what_is_said_holds() -> None:
    said = {"vcpu": 10, "memory_gib": 100, "shared_memory_gib": 1, "huge_pages_mib": 0, "efa_interfaces": 0}
    asked = job(**said, nodes=1).resources()
    assert {name: getattr(asked, name) for name in said} == said
    assert asked.quantities() == {"nvidia.com/gpu": "8", "cpu": "10", "memory": "100Gi"}
