"""Whether the cluster's name is free."""

from __future__ import annotations

import pytest
from preflight_account import MADE, clusters, group
from preflight_asked import all_ok, asked, only
from told_aws import denied

NAME = "cluster name"
LIST = ("sagemaker", "ListClusters")


def with_status(status):
    there = clusters(llm_train=[group("workers", "ml.p5.48xlarge", 4)])
    rows = there[LIST]["ClusterSummaries"]
    return {LIST: {"ClusterSummaries": [{**row, "ClusterStatus": status} for row in rows]}}


def test_a_free_name():
    all_ok(asked(NAME, MADE, clusters(another=[])), "no cluster has this name in us-west-2")


def test_a_cluster_in_service_is_updated():
    all_ok(asked(NAME, MADE, with_status("InService")), r"InService.*count as those of this one")


@pytest.mark.parametrize("status", ["Creating", "Deleting", "RollingBack", "SystemUpdating", "Updating"])
def test_a_cluster_that_changes_takes_no_update(status):
    only(asked(NAME, MADE, with_status(status)), "problem", f"it is {status}; wait until it is InService")


def test_a_failed_cluster():
    only(asked(NAME, MADE, with_status("Failed")), "problem", "has failed; see why .aws sagemaker describe")


def test_the_missing_permission_is_named():
    only(
        asked(NAME, MADE, {LIST: denied("sagemaker:ListClusters")}),
        "cannot tell",
        "do not permit sagemaker:ListClusters; ask for that action",
    )
