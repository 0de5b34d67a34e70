from __future__ import annotations

import re

import pytest

from hyperpod_model.catalog import names
from hyperpod_model.catalog.fact import UncertainFactError, UnknownNameError
from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.catalog.regions import (
    _types_by_region,
    offers,
    region,
    regions,
    regions_offering,
    regions_with_hyperpod,
)


def test_regions_and_partitions_are_those_of_botocore():
    session = pytest.importorskip("botocore.session").get_session()
    for name, found in regions().items():
        assert session.get_partition_for_region(name) == found.partition


def test_regions_with_hyperpod():
    assert len(regions_with_hyperpod()) == 19
    assert {"us-east-1", "us-west-2", "eu-west-1", "ap-northeast-1"} <= set(regions_with_hyperpod())
    assert list(regions_with_hyperpod()) == sorted(regions_with_hyperpod())


@pytest.mark.parametrize("name", ["eu-west-3", "eu-central-2", "us-gov-west-1", "cn-north-1"])
def test_regions_without_hyperpod(name: str):
    assert region(name).hyperpod.value is False
    assert not region(name).has_hyperpod


@pytest.mark.parametrize("name", ["us-iso-east-1", "eusc-de-east-1", "me-south-1"])
def test_a_region_in_doubt_is_not_refused_but_not_promised(name: str):
    assert region(name).has_hyperpod
    assert name not in regions_with_hyperpod()
    with pytest.raises(UncertainFactError, match=f"HyperPod in {name} is uncertain"):
        _ = region(name).hyperpod.value


def test_hyperpod_regions_are_those_of_the_registry():
    schemas = pytest.importorskip("cfnlint.schema").PROVIDER_SCHEMA_MANAGER
    for name, found in regions().items():
        if not found.hyperpod.certain or found.partition == "aws-cn":
            continue
        listed = "AWS::SageMaker::Cluster" in schemas.get_resource_types(name)
        assert listed == found.hyperpod.value, name


@pytest.mark.parametrize("name", regions())
def test_zone_ids_are_well_formed_and_of_the_region(name: str):
    found = region(name)
    assert len(set(found.zone_ids)) == len(found.zone_ids)
    if name in regions_with_hyperpod():
        assert len(found.zone_ids) >= 3
    compass = {"northeast": "ne", "southeast": "se", "northwest": "nw", "central": "c"}
    first, middle, last = name.split("-", 1)[0], "".join(name.split("-")[1:-1]), name.rsplit("-", 1)[1]
    prefix = f"{first}{compass.get(middle, middle[0])}{last}"
    for zone_id in (*found.zone_ids, *found.zone_ids_without_eks_control_plane):
        assert names.ZONE_ID.matches(zone_id)
        assert re.fullmatch(rf"{prefix}-az\d", zone_id)


def test_zones_of_us_west_2():
    assert region("us-west-2").zone_ids == ("usw2-az1", "usw2-az2", "usw2-az3", "usw2-az4")


def test_zones_without_eks_control_plane():
    excluded = {zone for found in regions().values() for zone in found.zone_ids_without_eks_control_plane}
    assert excluded == {"use1-az3", "usw1-az2", "cac1-az3"}


def test_a_listed_type_is_offered():
    fact = offers("us-west-2", "ml.p5.48xlarge")
    assert fact.value is True
    assert fact.checked_on == "2026-11"


def test_a_type_listed_elsewhere_is_not_offered():
    assert offers("us-west-1", "ml.p4d.24xlarge").value is (
        "us-west-1" in regions_offering("ml.p4d.24xlarge")
    )
    assert offers("ap-southeast-4", "ml.p5.48xlarge").value is False
    assert "ap-southeast-4" not in regions_offering("ml.p5.48xlarge")


@pytest.mark.parametrize("name", ["ml.p5e.48xlarge", "ml.p6e-gb200.36xlarge"])
def test_a_type_that_the_table_never_lists_is_uncertain(name: str):
    assert regions_offering(name) == ()
    with pytest.raises(UncertainFactError, match=f"lists {name} for no region at all"):
        _ = offers("us-west-2", name).value


def test_a_region_without_a_row_is_uncertain():
    with pytest.raises(UncertainFactError, match="has no row for eu-west-3"):
        _ = offers("eu-west-3", "ml.p5.48xlarge").value


def test_every_region_with_hyperpod_has_a_row_of_known_types():
    rows = _types_by_region()
    assert set(regions_with_hyperpod()) <= rows.keys() <= regions().keys()
    assert all(types <= instance_types().keys() for types in rows.values())


def test_regions_offering_names_only_regions_with_hyperpod():
    assert set(regions_offering("ml.g6.xlarge")) <= set(regions_with_hyperpod())
    assert "us-east-1" in regions_offering("ml.p5.48xlarge")


def test_unknown_names_are_refused():
    with pytest.raises(UnknownNameError, match="unknown region 'us-west-22'; did you mean us-west-2"):
        region("us-west-22")
    with pytest.raises(UnknownNameError, match="unknown region"):
        offers("nowhere-1", "ml.p5.48xlarge")
    with pytest.raises(UnknownNameError, match="unknown instance type"):
        offers("us-west-2", "ml.x")
    with pytest.raises(UnknownNameError, match="unknown instance type"):
        regions_offering("ml.x")
