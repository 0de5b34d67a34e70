"""Whether the quota of network interfaces holds the nodes'."""

from __future__ import annotations

from preflight_account import CLUSTER_QUOTAS, INTERFACE_QUOTA, MADE, clusters, group, with_groups
from preflight_asked import all_ok, asked, only
from told_aws import denied

NAME = "network interfaces"
QUOTAS = ("service-quotas", "ListServiceQuotas")
INTERFACES = ("ec2", "DescribeNetworkInterfaces")


def quota_of(value):
    return {QUOTAS: {"Quotas": [{**INTERFACE_QUOTA, "Value": value}]}}


def test_a_node_has_one_for_each_network_card():
    all_ok(asked(NAME, MADE), "it is 5000, 100 exist, 129 more are needed")


def test_too_few():
    only(
        asked(NAME, MADE, quota_of(228)),
        "problem",
        "ask for 229: .*--service-code vpc --quota-code L-DF5E4CA3 --desired-value 229",
    )
    all_ok(asked(NAME, MADE, quota_of(229)))


def test_those_of_the_clusters_own_nodes_exist_already():
    there = clusters(llm_train=[group("workers", "ml.p5.48xlarge", 3), group("new", "ml.p99.large", 1)])
    all_ok(asked(NAME, MADE, there), "100 exist, 33 more are needed")


def test_all_pages_count():
    def pages(asked):
        more = {"NextToken": "more"} if "NextToken" not in asked else {}
        return {"NetworkInterfaces": [{}] * 70, **more}

    all_ok(asked(NAME, MADE, {INTERFACES: pages}), "140 exist")


def test_a_type_that_the_catalog_lacks():
    spec = {
        **with_groups(MADE, instance_type="ml.p99.48xlarge"),
        "unlisted_instance_types": ["ml.p99.48xlarge"],
    }
    only(asked(NAME, spec), "cannot tell", "1 more are needed.*the catalog has no type of workers")


def test_a_quota_that_nobody_lists():
    only(
        asked(NAME, MADE, {QUOTAS: {"Quotas": CLUSTER_QUOTAS}}),
        "cannot tell",
        "does not list it in us-west-2",
    )


def test_the_missing_permission_is_named():
    action = "ec2:DescribeNetworkInterfaces"
    only(
        asked(NAME, MADE, {INTERFACES: denied(action)}),
        "cannot tell",
        f"permit {action}; ask for that action",
    )


def test_a_flexible_group_counts_with_the_type_of_most_cards():
    types = ["ml.m5.2xlarge", "ml.p5.48xlarge", "ml.g5.8xlarge"]
    all_ok(asked(NAME, with_groups(MADE, instance_type=None, instance_types=types)), "129 more are needed")


def test_whether_the_cluster_exists_matters_only_where_there_is_no_room():
    refused = {("sagemaker", "ListClusters"): denied("sagemaker:ListClusters")}
    all_ok(asked(NAME, MADE, refused), "129 more are needed")
    only(asked(NAME, MADE, {**refused, **quota_of(228)}), "cannot tell", "permit sagemaker:ListClusters")
