from __future__ import annotations

import pytest

from hyperpod_model.catalog.fact import UncertainFactError, UnknownNameError
from hyperpod_model.catalog.instances import (
    accelerated_instance_types,
    instance_type,
    instance_types,
)


def test_the_types_are_those_of_the_api():
    session = pytest.importorskip("botocore.session").get_session()
    enumeration = session.get_service_model("sagemaker").shape_for("ClusterInstanceType").enum
    assert list(instance_types()) == list(enumeration)


def test_there_are_209_types_of_which_57_are_accelerated():
    assert len(instance_types()) == 209
    assert len(accelerated_instance_types()) == 57


@pytest.mark.parametrize("name", accelerated_instance_types())
def test_an_accelerated_type_has_accelerators_with_memory(name: str):
    found = instance_type(name)
    assert found.is_accelerated
    assert found.accelerator is not None
    assert found.accelerator.count > 0
    assert found.accelerator.memory_gib_each.assuming(because="any positive size will do") > 0
    resource = {"gpu": "nvidia.com/gpu", "neuron": "aws.amazon.com/neurondevice"}
    assert found.accelerator.kubernetes_resource == resource[found.accelerator.kind]
    assert found.local_nvme_gb > 0


@pytest.mark.parametrize("name", instance_types())
def test_every_row_is_plausible(name: str):
    found = instance_type(name)
    efa = found.efa_interfaces.assuming(because="only the range is checked")
    assert found.name == name == f"ml.{found.family}.{name.split('.')[2]}"
    assert found.vcpu >= 1
    assert found.memory_gib >= 2
    assert 0 <= efa <= found.network_cards
    assert found.rdma_read or not found.rdma_write
    assert 3 <= found.max_pods.assuming(because="only the range is checked") <= 49
    assert found.slurm_addresses.assuming(because="only the rule is checked") == found.network_cards
    eks = found.eks_addresses.assuming(because="only the range is checked")
    assert found.network_cards <= eks <= 50 + found.network_cards - 1


def test_p5_48xlarge_is_as_documented():
    p5 = instance_type("ml.p5.48xlarge")
    assert p5.accelerator is not None
    assert (p5.accelerator.kind, p5.accelerator.model, p5.accelerator.count) == ("gpu", "NVIDIA H100", 8)
    assert p5.accelerator.memory_gib_each.value == 80
    assert (p5.vcpu, p5.memory_gib, p5.architecture) == (192, 2048, "x86_64")
    assert p5.efa_interfaces.value == 32
    assert p5.rdma_read
    assert p5.rdma_write
    assert p5.max_pods.value == 49
    assert p5.eks_addresses.value == 81
    assert p5.slurm_addresses.value == 32
    assert p5.local_nvme_gb == 30400


@pytest.mark.parametrize(
    ("name", "efa", "read", "write"),
    [
        ("ml.p4d.24xlarge", 4, True, False),
        ("ml.p5.4xlarge", 1, True, True),
        ("ml.p5en.48xlarge", 16, True, True),
        ("ml.p6-b200.48xlarge", 8, True, True),
        ("ml.p6-b300.48xlarge", 16, True, True),
        ("ml.trn1.32xlarge", 8, True, True),
        ("ml.trn2.48xlarge", 16, True, True),
        ("ml.g5.48xlarge", 1, False, False),
        ("ml.g6e.48xlarge", 4, True, True),
        ("ml.g6.xlarge", 0, False, False),
        ("ml.m5.2xlarge", 0, False, False),
        ("ml.c5n.18xlarge", 1, False, False),
    ],
)
def test_efa_and_rdma(name: str, efa: int, read: bool, write: bool):
    found = instance_type(name)
    assert (found.efa_interfaces.value, found.rdma_read, found.rdma_write) == (efa, read, write)


@pytest.mark.parametrize("name", ["ml.m5.2xlarge", "ml.m5.4xlarge"])
def test_a_cpu_type_has_no_accelerator(name: str):
    assert not instance_type(name).is_accelerated
    assert name not in accelerated_instance_types()


def test_addresses_are_certain_only_where_documented():
    certain = [name for name, found in instance_types().items() if found.eks_addresses.certain]
    assert certain == ["ml.p5.48xlarge"]
    assert certain == [name for name, found in instance_types().items() if found.slurm_addresses.certain]
    with pytest.raises(
        UncertainFactError, match=r"addresses a node with Slurm of ml.p4d.24xlarge is uncertain"
    ):
        _ = instance_type("ml.p4d.24xlarge").slurm_addresses.value


def test_sources_that_disagree_are_kept_side_by_side():
    claims = instance_type("ml.p6e-gb200.36xlarge").efa_interfaces.claims
    assert [claim.value for claim in claims] == [0, 16]
    assert all(claim.checked_on.startswith("2026-11") for claim in claims)


def test_an_unknown_type_is_refused_with_suggestions():
    with pytest.raises(
        UnknownNameError, match=r"unknown instance type 'ml.p5.48xlarg'; did you mean ml.p5.48xl"
    ):
        instance_type("ml.p5.48xlarg")


@pytest.mark.parametrize("name", ["ml.inf2.48xlarge", "ml.trn1.2xlarge", "p5.48xlarge"])
def test_types_that_the_api_refuses_are_unknown(name: str):
    with pytest.raises(LookupError):
        instance_type(name)


def test_the_tables_cannot_be_changed():
    with pytest.raises(TypeError):
        instance_types()["ml.x"] = instance_type("ml.m5.large")  # type: ignore[index]
    with pytest.raises(AttributeError):
        instance_type("ml.m5.large").vcpu = 1  # type: ignore[misc]
