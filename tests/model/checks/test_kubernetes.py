from __future__ import annotations

import re
from typing import Any

import pytest

from hyperpod_model.catalog.regions import regions
from hyperpod_model.catalog.versions import KUBERNETES
from hyperpod_model.checks.kubernetes import (
    check_add_on_versions,
    check_control_plane_zones,
    check_kubernetes_version,
    newest_kubernetes_version,
)
from hyperpod_model.faults import UNKNOWN


def test_the_newest_version_is_one_that_every_source_lists() -> None:
    newest = newest_kubernetes_version()
    assert newest == "1.33"
    assert check_kubernetes_version(newest) == []


@pytest.mark.parametrize("version", ["1.30", "1.32", UNKNOWN])
def test_versions_that_all_sources_list_pass(version: Any) -> None:
    assert check_kubernetes_version(version) == []


@pytest.mark.parametrize(
    ("version", "source"),
    [
        ("1.28", "sagemaker-hyperpod-eks-prerequisites .* has 1.30-1.35"),
        ("1.34", "sagemaker-eks-operator-install.* has 1.28-1.33"),
    ],
)
def test_a_version_that_one_source_lists_is_a_warning_that_names_the_other(version: str, source: str) -> None:
    (fault,) = check_kubernetes_version(version)
    assert fault.severity == "warning"
    assert re.search(source, fault.message)


@pytest.mark.parametrize("version", ["1.27", "1.36"])
def test_a_version_that_no_source_lists_is_refused_with_all_of_them(version: str) -> None:
    (fault,) = check_kubernetes_version(version)
    assert fault.severity == "error"
    for claim in KUBERNETES.claims:
        assert "-".join(claim.value) in fault.message


@pytest.mark.parametrize("version", [1.33, "1.3", "v1.33", "", None])
def test_what_is_no_version_is_refused(version: Any) -> None:
    (fault,) = check_kubernetes_version(version)
    assert "must be a Kubernetes version such as '1.33', got " in fault.message


@pytest.mark.parametrize(
    ("zones", "region"),
    [
        (["usw2-az1", "usw2-az2"], "us-west-2"),
        ([UNKNOWN, "usw2-az2"], "us-west-2"),
        ([UNKNOWN, UNKNOWN], None),
        (["use1-az1", "use1-az2"], UNKNOWN),
    ],
)
def test_two_zones_of_the_region_pass(zones: list[Any], region: Any) -> None:
    assert check_control_plane_zones(zones, region=region) == []


@pytest.mark.parametrize(
    ("zones", "message"),
    [
        (["usw2-az1"], "must be two zones, got 1"),
        (["usw2-az1", "usw2-az2", "usw2-az3"], "must be two zones, got 3"),
        (["usw2-az1", "usw2-az1"], "must be different zones, got 'usw2-az1' twice"),
        (["usw2-az1", "us-west-2a"], "got the name 'us-west-2a'"),
        (["usw2-az1", "use1-az1"], "must be a zone of us-west-2, got 'use1-az1' of us-east-1"),
    ],
)
def test_other_zones_are_refused(zones: list[str], message: str) -> None:
    assert any(message in fault.message for fault in check_control_plane_zones(zones, region="us-west-2"))


def test_zones_without_a_control_plane_are_refused_everywhere() -> None:
    closed = [
        (name, zone)
        for name, region in regions().items()
        for zone in region.zone_ids_without_eks_control_plane
    ]
    assert ("us-east-1", "use1-az3") in closed
    for region, zone in closed:
        faults = check_control_plane_zones([zone, UNKNOWN], region=region)
        assert any(
            f"EKS takes subnets of a control plane, got '{zone}'" in fault.message for fault in faults
        ), zone


@pytest.mark.parametrize(
    "versions",
    [
        {},
        {"vpc-cni": "v1.18.3-eksbuild.1"},
        {"vpc-cni": "1.20"},
        {"vpc-cni": UNKNOWN},
        {"coredns": "v1.11.4-eksbuild.2", "cert-manager": "v1.18.2-eksbuild.2"},
    ],
)
def test_versions_of_add_ons_that_pass(versions: dict[str, Any]) -> None:
    assert check_add_on_versions(versions) == []


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ({"vpc-cni": "v1.18.2-eksbuild.1"}, "must be 1.18.3 or later for HyperPod, got 'v1.18.2-eksbuild.1'"),
        ({"vpc-cni": "v1.9.9"}, "must be 1.18.3 or later"),
        ({"vpc-cnii": "v1.18.3"}, "unknown add-on 'vpc-cnii'; did you mean vpc-cni"),
        ({"coredns": "latest"}, "must be a version such as 'v1.18.3-eksbuild.1', got 'latest'"),
        ({"coredns": 1}, "got 1"),
    ],
)
def test_other_versions_of_add_ons_are_refused(versions: dict[str, Any], message: str) -> None:
    (fault,) = check_add_on_versions(versions)
    assert fault.path == (next(iter(versions)),)
    assert message in fault.message
