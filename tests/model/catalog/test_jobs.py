"""Facts about jobs and their pods."""

from __future__ import annotations

import pytest

from hyperpod_model.catalog import collectives, jobs, pod_resources
from hyperpod_model.catalog.instances import accelerated_instance_types, instance_type, instance_types
from hyperpod_model.catalog.labels import NETWORK_LAYERS
from hyperpod_model.catalog.limits import TIERED_MEMORY_PERCENTAGE
from hyperpod_model.catalog.ports import CHECKPOINTLESS_EPHEMERAL, TIERED_CHECKPOINTING_LISTENERS


@pytest.mark.parametrize(
    ("memory_gib", "reserved"),
    [
        (4, 0.5 + 4 * 0.3),
        (16, 0.5 + 4 * 0.3 + 4 * 0.25 + 8 * 0.2),
        (128, 0.5 + 1.2 + 1 + 1.6 + 112 * 0.17),
        (2048, 0.5 + 1.2 + 1 + 1.6 + 19.04 + 1920 * 0.07),
    ],
)
def test_memory_that_the_system_keeps(memory_gib: float, reserved: float) -> None:
    assert pod_resources.reserved_memory_gib(memory_gib) == pytest.approx(reserved)


@pytest.mark.parametrize(
    ("vcpu", "reserved"),
    [(1, 0.4), (2, 0.55), (4, 0.75), (96, 0.75 + 92 * 0.06), (192, 0.75 + 188 * 0.06)],
)
def test_virtual_cpus_that_the_system_keeps(vcpu: int, reserved: float) -> None:
    assert pod_resources.reserved_vcpu(vcpu) == pytest.approx(reserved)


@pytest.mark.parametrize("name", instance_types())
def test_a_node_never_leaves_more_than_it_has(name: str) -> None:
    known = instance_type(name)
    least, most = TIERED_MEMORY_PERCENTAGE.value
    left = [pod_resources.pod_memory_gib(known, tiered_percentage=share) for share in (0, least, most)]
    assert known.memory_gib > left[0] >= left[1] >= left[2] == 0
    assert pod_resources.node_vcpu(known, threads_per_core=2) == known.vcpu
    assert known.vcpu > pod_resources.pod_vcpu(known, threads_per_core=2) >= 0


def test_huge_pages_are_set_apart_where_there_is_efa() -> None:
    with_efa, without = instance_type("ml.g5.8xlarge"), instance_type("ml.g6e.4xlarge")
    assert with_efa.memory_gib == without.memory_gib
    difference = pod_resources.pod_memory_gib(without) - pod_resources.pod_memory_gib(with_efa)
    assert difference == pytest.approx(pod_resources.NODE_HUGE_PAGES_MIB.value / 1024, abs=1)
    assert pod_resources.HUGE_PAGES_MIB.value <= pod_resources.NODE_HUGE_PAGES_MIB.value


@pytest.mark.parametrize("name", accelerated_instance_types())
def test_every_trainium_family_has_its_cores(name: str) -> None:
    known = instance_type(name)
    assert known.accelerator is not None
    each = pod_resources.processes_per_device(known)
    assert (each > 1) == (known.accelerator.kind == "neuron")


@pytest.mark.parametrize(
    ("profile", "share"), [("mig-1g.10gb", 1 / 7), ("mig-3g.71gb", 3 / 7), ("mig-7g.80gb", 1)]
)
def test_share_of_a_partition(profile: str, share: float) -> None:
    assert pod_resources.partition_share(profile) == pytest.approx(share)


def test_every_profile_of_the_catalog_has_a_share() -> None:
    profiles = {profile for known in instance_types().values() for profile in known.mig_profiles}
    assert profiles
    assert all(0 < pod_resources.partition_share(profile) <= 1 for profile in profiles)


def test_operators() -> None:
    kubeflow, hyperpod = jobs.OPERATORS["kubeflow"], jobs.OPERATORS["hyperpod"]
    assert (kubeflow.api_version, kubeflow.kind) == ("kubeflow.org/v1", "PyTorchJob")
    assert (hyperpod.api_version, hyperpod.kind) == ("sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob")
    assert kubeflow.container_name == "pytorch"
    for operator in jobs.OPERATORS.values():
        assert operator.default_clean_pod_policy in operator.clean_pod_policies
        assert operator.pod_name("a", 3).startswith("a-")
        assert operator.pod_name("a", 3).endswith("-3")


@pytest.mark.parametrize(
    ("namespace", "resumes"),
    [
        ("kubeflow", True),
        ("hyperpod-ns-a", True),
        ("hyperpod", True),
        ("default", False),
        ("kubeflow-a", False),
    ],
)
def test_where_kubeflow_jobs_resume(namespace: str, resumes: bool) -> None:
    assert jobs.auto_resumes_in(namespace) is resumes


def test_task_governance() -> None:
    assert jobs.team_namespace("a") == "hyperpod-ns-a" == f"{jobs.TEAM_NAMESPACE_PREFIX}a"
    assert jobs.team_queue("a") == "hyperpod-ns-a-localqueue"
    assert jobs.workload_priority("high") == "high-priority"
    longest = "a" * jobs.TEAM.max_length
    assert jobs.TEAM.matches(longest)
    assert jobs.LABEL_VALUE.matches(jobs.team_queue(longest))


def test_what_several_tables_say_agrees() -> None:
    ports = {(found.protocol, found.first) for found in TIERED_CHECKPOINTING_LISTENERS}
    assert ("tcp", int(jobs.TIERED_ENDPOINT.rpartition(":")[2])) in ports
    first, last = jobs.PORT_RANGE_SYSCTL[1].split()
    assert {(found.first, found.last) for found in CHECKPOINTLESS_EPHEMERAL} == {(int(first), int(last))}
    assert set(jobs.CHECKPOINTLESS_TIERS) == {1, 2, 3, 4}
    assert jobs.IN_PROCESS_TIER < jobs.PEER_TIER
    assert len(NETWORK_LAYERS) == 3


def test_names_of_jobs_begin_with_a_letter_since_services_are_called_so() -> None:
    assert jobs.JOB_NAME.matches("a1")
    assert not jobs.JOB_NAME.matches("1a")
    assert not jobs.JOB_NAME.matches("a" * 64)


@pytest.mark.parametrize("name", accelerated_instance_types())
def test_the_flag_for_rdma_is_kept_from_types_that_it_aborts(name: str) -> None:
    known = instance_type(name)
    if known.efa_interfaces.if_certain(1) == 0:
        assert not collectives.aborts_with_device_rdma(known)
        return
    variables = collectives.collective_environment(known, efa_interfaces=1)
    assert (collectives.DEVICE_RDMA[0] in variables) != collectives.aborts_with_device_rdma(known)


def test_types_that_the_flag_for_rdma_aborts() -> None:
    aborted = [
        name
        for name in accelerated_instance_types()
        if collectives.aborts_with_device_rdma(instance_type(name))
    ]
    assert {name.split(".")[1] for name in aborted} == {"g5", "g4dn"}
    assert "ml.g5.12xlarge" in aborted
    assert "ml.g5.xlarge" not in aborted


def test_the_blogs_variables_are_kept_with_their_source() -> None:
    assert jobs.ROOTLESS.value == ("HPCT_USE_ROOTLESS", "1")
    assert any("TORCH_SKIP_TCPSTORE" in claim.value[0] for claim in jobs.ROOTLESS.claims)
