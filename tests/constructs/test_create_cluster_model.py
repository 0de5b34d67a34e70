"""The walk over botocore's model finds what it is there to find."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_requests import changed, eks_request, scripted_request, slurm_request
from create_cluster_model import assert_clusters_are_legal, violations

WORKERS = ("InstanceGroups", 2)


@pytest.mark.parametrize("make", [slurm_request, scripted_request, eks_request])
def test_legal_requests_pass(make: Any) -> None:
    assert violations(make()) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("ClusterName", "a_b"), "Properties.ClusterName: 'a_b' does not match"),
        (("ClusterName", 1), "Properties.ClusterName: 1 is no string"),
        (("clusterName", "a"), "Properties.clusterName: is no member"),
        (
            (*WORKERS, "InstanceCount", 6759),
            "Properties.InstanceGroups[2].InstanceCount: 6759 is not within 0 and",
        ),
        ((*WORKERS, "InstanceCount", True), "Properties.InstanceGroups[2].InstanceCount: True is no integer"),
        (
            (*WORKERS, "InstanceType", "p5"),
            "Properties.InstanceGroups[2].InstanceType: 'p5' is none of the 209",
        ),
        (("VpcConfig", "Subnets", []), "Properties.VpcConfig.Subnets: 0 is not within 1 and 16"),
        (("Tags", 0, "Value", "§"), "Properties.Tags[0].Value: '§' does not match"),
    ],
)
def test_everything_else_is_found(change: Any, expected: str) -> None:
    (found,) = violations(changed(slurm_request(), change))
    assert found.startswith(expected)


def test_a_missing_member_is_found() -> None:
    assert violations({"InstanceGroups": []})[0] == "Properties.ClusterName: is required"


def test_intrinsic_functions_pass() -> None:
    assert violations(changed(slurm_request(), ("ClusterName", {"Ref": "Name"}))) == []


def test_a_template_without_a_cluster_fails() -> None:
    with pytest.raises(AssertionError, match="no cluster"):
        assert_clusters_are_legal({"Resources": {}})
