from __future__ import annotations

import pytest

from hyperpod_model.catalog import lustre
from hyperpod_model.catalog.fact import UnknownNameError


def test_deployment_types_are_those_of_the_api():
    session = pytest.importorskip("botocore.session").get_session()
    model = session.get_service_model("fsx")
    assert list(lustre.DEPLOYMENT_TYPES) == list(model.shape_for("LustreDeploymentType").enum)
    assert list(lustre.COMPRESSION_TYPES) == list(model.shape_for("DataCompressionType").enum)
    assert model.shape_for("AutomaticBackupRetentionDays").metadata["max"] == lustre.MAX_BACKUP_RETENTION_DAYS


@pytest.mark.parametrize(
    ("name", "throughputs"),
    [
        ("SCRATCH_1", ()),
        ("SCRATCH_2", ()),
        ("PERSISTENT_1", (50, 100, 200)),
        ("PERSISTENT_2", (125, 250, 500, 1000)),
    ],
)
def test_throughputs(name: str, throughputs: tuple[int, ...]):
    assert lustre.deployment_type(name).throughputs == throughputs


def test_steps_for_efa_are_steps_of_the_type_for_each_of_its_throughputs():
    persistent = lustre.deployment_type("PERSISTENT_2")
    assert tuple(lustre.EFA_CAPACITY_STEPS_GIB) == persistent.throughputs
    assert lustre.EFA_CAPACITY_STEPS_GIB[125] == 38_400
    assert all(persistent.takes_capacity(step) for step in lustre.EFA_CAPACITY_STEPS_GIB.values())


@pytest.mark.parametrize(
    ("name", "legal", "illegal"),
    [
        ("SCRATCH_1", (1200, 2400, 3600, 7200), (0, 4800, 6000)),
        ("SCRATCH_2", (1200, 2400, 4800, 7200), (0, -2400, 3600, 6000)),
        ("PERSISTENT_1", (1200, 2400, 4800), (3600,)),
        ("PERSISTENT_2", (1200, 2400, 4800, 240_000), (0, 1, 1199, 3600, 4801)),
    ],
)
def test_capacities(name: str, legal: tuple[int, ...], illegal: tuple[int, ...]):
    found = lustre.deployment_type(name)
    assert all(found.takes_capacity(size) for size in legal)
    assert not any(found.takes_capacity(size) for size in illegal)


@pytest.mark.parametrize(
    ("name", "size", "near"),
    [
        ("PERSISTENT_2", -5, (1200,)),
        ("PERSISTENT_2", 0, (1200,)),
        ("PERSISTENT_2", 100, (1200,)),
        ("PERSISTENT_2", 1200, (1200,)),
        ("PERSISTENT_2", 1300, (1200, 2400)),
        ("PERSISTENT_2", 3600, (2400, 4800)),
        ("PERSISTENT_2", 5000, (4800, 7200)),
        ("PERSISTENT_2", 4800, (4800,)),
        ("SCRATCH_1", 3000, (2400, 3600)),
        ("SCRATCH_1", 5000, (3600, 7200)),
    ],
)
def test_nearest_capacities(name: str, size: int, near: tuple[int, ...]):
    found = lustre.deployment_type(name)
    assert found.nearest_capacities(size) == near
    assert all(found.takes_capacity(size) for size in near)


def test_only_persistent_types_have_keys_and_backups():
    for name, found in lustre.DEPLOYMENT_TYPES.items():
        assert found.backups is found.encryption_key is name.startswith("PERSISTENT")


def test_an_unknown_type_is_refused():
    with pytest.raises(
        UnknownNameError, match="unknown FSx for Lustre deployment type 'PERSISTENT_3'; did you mean"
    ):
        lustre.deployment_type("PERSISTENT_3")


def test_the_defaults_are_legal():
    assert lustre.DEFAULT_DEPLOYMENT_TYPE in lustre.DEPLOYMENT_TYPES
    assert lustre.RECOMMENDED_LUSTRE_VERSION in lustre.LUSTRE_VERSIONS
