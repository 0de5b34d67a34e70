"""Whether a region has the service and the types."""

from __future__ import annotations

import pytest
from cluster_requests import changed, lines, scripted_request

from hyperpod_model.checks.cluster import check_cluster
from hyperpod_model.checks.regions import check_region
from hyperpod_model.faults import UNKNOWN

WORKERS = ("InstanceGroups", 2, "InstanceType")


def test_a_region_without_hyperpod_is_refused_with_the_regions_that_have_it() -> None:
    (line,) = lines(check_region(scripted_request(), "eu-west-3"))
    assert line.startswith("error: region 'eu-west-3' has no HyperPod; HyperPod is in ap-northeast-1, ")
    assert "us-west-2" in line


def test_a_mistyped_region_is_refused() -> None:
    assert lines(check_region(scripted_request(), "us-wset-2")) == [
        "error: there is no region 'us-wset-2'; did you mean 'us-west-2'"
    ]


@pytest.mark.parametrize("name", ["Oregon", "us-west-2a", "usw2", "us_west_2", ""])
def test_what_is_no_region_code_is_refused(name: str) -> None:
    (line,) = lines(check_region(scripted_request(), name))
    assert line.startswith(f"error: there is no region {name!r}; ")


@pytest.mark.parametrize("name", ["US-WEST-2", "us-west-2 "])
def test_a_region_in_capitals_or_with_blanks_is_recognised(name: str) -> None:
    assert lines(check_region(scripted_request(), name)) == [
        f"error: there is no region {name!r}; did you mean 'us-west-2'"
    ]


def test_a_region_newer_than_the_catalog_is_a_warning() -> None:
    (line,) = lines(check_region(scripted_request(), "mars-north-1"))
    assert line.startswith("warning: region 'mars-north-1' is not known to this version; HyperPod is in ")


def test_a_region_that_lacks_the_type_is_refused_with_the_regions_that_have_it() -> None:
    request = changed(scripted_request(), (*WORKERS, "ml.p5en.48xlarge"))
    (line,) = lines(check_region(request, "eu-west-1"))
    assert line.startswith(
        "error: InstanceGroups[2].InstanceType: region eu-west-1 has no 'ml.p5en.48xlarge'; it is in ap-"
    )
    assert line.endswith("if you know better, list it in unlisted_instance_types")


def test_the_user_can_vouch_for_a_type_by_name() -> None:
    request = changed(scripted_request(), (*WORKERS, "ml.p5en.48xlarge"))
    assert check_cluster(request, region="eu-west-1", unlisted_instance_types=["ml.p5en.48xlarge"]) == []


@pytest.mark.parametrize("name", ["ml.p5e.48xlarge", "ml.p6e-gb200.36xlarge"])
def test_a_type_that_the_table_never_lists_is_a_warning(name: str) -> None:
    request = changed(scripted_request(), (*WORKERS, name))
    (line,) = lines(check_region(request, "us-west-2"))
    assert line.startswith(
        f"warning: InstanceGroups[2].InstanceType: whether us-west-2 has {name!r} is not certain"
    )


def test_types_of_flexible_groups_are_checked() -> None:
    request = scripted_request()
    request["InstanceGroups"][2].pop("InstanceType")
    request["InstanceGroups"][2]["InstanceRequirements"] = {
        "InstanceTypes": ["ml.p5.48xlarge", "ml.p5en.48xlarge"]
    }
    (line,) = lines(check_region(request, "eu-west-1"))
    assert line.startswith(
        "error: InstanceGroups[2].InstanceRequirements.InstanceTypes[1]: region eu-west-1 has no"
    )


def test_an_unknown_type_is_left_to_the_service() -> None:
    assert check_region(changed(scripted_request(), (*WORKERS, UNKNOWN)), "eu-west-1") == []


def test_the_partition_does_not_matter() -> None:
    assert check_region({"InstanceGroups": []}, "us-east-1") == []
    assert [fault.severity for fault in check_region({"InstanceGroups": []}, "cn-north-1")] == ["error"]
