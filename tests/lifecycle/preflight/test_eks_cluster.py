"""Whether the EKS cluster can carry HyperPod."""

from __future__ import annotations

import pytest
from preflight_account import EKS, MADE, ON_EKS, WITH_EKS, eks, subnet
from preflight_asked import all_ok, asked, only
from told_aws import Refusal, denied

NAME = "EKS cluster"
DESCRIBE = ("eks", "DescribeCluster")
VERSIONS = ("eks", "DescribeClusterVersions")


def told(**more):
    return {DESCRIBE: eks(**more)}


def test_a_cluster_that_can():
    all_ok(
        asked(NAME, ON_EKS),
        "Kubernetes 1.33: HyperPod supports it",
        "mode: it is API",
        "VPC: it and the nodes'",
    )


def test_both_modes_will_do():
    all_ok(asked(NAME, ON_EKS, told(accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"})))


@pytest.mark.parametrize(
    ("change", "pattern"),
    [
        (told(version="1.27"), "Kubernetes 1.27: must be a Kubernetes version that HyperPod supports"),
        (
            told(accessConfig={"authenticationMode": "CONFIG_MAP"}),
            "it is CONFIG_MAP, and HyperPod needs API or API_AND_CONFIG_MAP; aws eks update-cluster-config "
            "--region us-west-2 --name training --access-config authenticationMode=API_AND_CONFIG_MAP",
        ),
        (told(status="UPDATING"), "it is UPDATING; wait until it is ACTIVE"),
        (
            told(resourcesVpcConfig={"vpcId": "vpc-0fedcba9876543210"}),
            "it is in vpc-0fedcba9876543210, and the nodes' subnets in vpc-0123456789abcdef0; name subnets",
        ),
        (
            {DESCRIBE: Refusal("ResourceNotFoundException", status=404)},
            "no such EKS cluster in us-west-2; name one",
        ),
    ],
)
def test_a_cluster_that_cannot(change, pattern):
    only(asked(NAME, ON_EKS, change), "problem", pattern)


def test_a_version_on_which_sources_disagree():
    only(
        asked(NAME, ON_EKS, told(version="1.34")), "cannot tell", "not in every list of supported Kubernetes"
    )


def test_a_mode_that_eks_does_not_tell():
    only(asked(NAME, ON_EKS, told(accessConfig={})), "cannot tell", "EKS does not tell it")


@pytest.mark.parametrize(
    "other", [EKS.replace("111122223333", "444455556666"), EKS.replace("us-west-2", "us-east-1")]
)
def test_a_cluster_elsewhere(other):
    spec = {**ON_EKS, "region": None, "eks": {**ON_EKS["eks"], "cluster_arn": other}}
    only(asked(NAME, spec), "problem", "name an EKS cluster of the same account and region")


def test_subnets_that_nobody_may_see():
    found = asked(NAME, ON_EKS, {("ec2", "DescribeSubnets"): denied("ec2:DescribeSubnets")})
    only(found, "cannot tell", "training, VPC: the AWS credentials do not permit ec2:DescribeSubnets")
    found = asked(NAME, ON_EKS, {("ec2", "DescribeSubnets"): {"Subnets": [subnet()][:0]}})
    only(found, "cannot tell", "no subnet of the nodes was found")


def test_a_version_that_is_made():
    all_ok(asked(NAME, WITH_EKS), r"^Kubernetes 1.33: EKS makes clusters of it \(standard support\)")


def test_a_version_that_eks_no_longer_makes():
    none = {VERSIONS: {"clusterVersions": [{"clusterVersion": "1.35", "status": "standard-support"}]}}
    only(
        asked(NAME, WITH_EKS, none),
        "problem",
        "Kubernetes 1.33: EKS makes no cluster of it in us-west-2; set eks.k",
    )
    old = {VERSIONS: {"clusterVersions": [{"clusterVersion": "1.33", "versionStatus": "UNSUPPORTED"}]}}
    only(asked(NAME, WITH_EKS, old), "problem", "EKS makes no cluster of it")


def test_slurm():
    only(asked(NAME, MADE), "not applicable", "Slurm schedules the jobs")


@pytest.mark.parametrize(("spec", "which"), [(ON_EKS, DESCRIBE), (WITH_EKS, VERSIONS)])
def test_the_missing_permission_is_named(spec, which):
    action = f"eks:{which[1]}"
    only(asked(NAME, spec, {which: denied(action)}), "cannot tell", f"permit {action}; ask for that action")
