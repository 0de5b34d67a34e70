"""Clusters on EKS of several teams in one account and region, one of them in the EKS cluster of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import life_steps
import pytest
from assemblies import spec_of, with_counts
from cdk_command import CdkCommand
from cluster_life import ClusterLife
from published import bootstrap

from aws_double.running import Running

pytestmark = pytest.mark.steps_of_one_story

USUAL = spec_of("llm-train-eks.yaml")


@pytest.fixture(scope="module")
def team(double: Running, cdk: CdkCommand, folder: Path) -> ClusterLife:
    """The usual cluster."""
    bootstrap(double.session())
    spec = spec_of("llm-train-eks.yaml", name="team-a", instance_groups=with_counts(USUAL, workers=2))
    return ClusterLife(double, cdk, folder, spec)


@pytest.fixture(scope="module")
def isolated_team(double: Running, cdk: CdkCommand, folder: Path) -> ClusterLife:
    """Another one, without a way to the internet."""
    spec = spec_of(
        "llm-train-eks.yaml",
        name="team-b",
        instance_groups=with_counts(USUAL, workers=2),
        network={**USUAL.network.model_dump(exclude_unset=True), "isolated": True},
    )
    return ClusterLife(double, cdk, folder, spec)


@pytest.fixture(scope="module")
def guest(team: ClusterLife, double: Running, cdk: CdkCommand, folder: Path) -> ClusterLife:
    """``llm-train-eks-existing.yaml`` with the ids of the first team's EKS cluster and network."""
    found = _eks_cluster(team)
    network = team.description["VpcConfig"]
    issuer = found["identity"]["oidc"]["issuer"]
    # Whoever runs the EKS cluster lets the account trust the tokens of its pods.
    team.root.client("iam").create_open_id_connect_provider(Url=issuer, ClientIDList=["sts.amazonaws.com"])
    pods = spec_of("llm-train-eks-existing.yaml").model_dump(exclude_unset=True)["training_pods"]
    (subnet,) = team.root.client("ec2").describe_subnets(SubnetIds=network["Subnets"])["Subnets"]
    spec = spec_of(
        "llm-train-eks-existing.yaml",
        region=double.region,
        network={
            "vpc_id": found["resourcesVpcConfig"]["vpcId"],
            "subnet_ids": network["Subnets"],
            "security_group_ids": network["SecurityGroupIds"],
            "subnet_cidr": subnet["CidrBlock"],
        },
        eks={
            "cluster_arn": found["arn"],
            "cluster_security_group_id": found["resourcesVpcConfig"]["clusterSecurityGroupId"],
            "dependency_chart": {"installed": True},
        },
        training_pods={**pods, "issuer": issuer},
    )
    return ClusterLife(double, cdk, folder, spec)


def test_first_team(team: ClusterLife) -> None:
    team.deploy()
    life_steps.expect_everything_told(team)


def test_second_team_beside_it(team: ClusterLife, isolated_team: ClusterLife) -> None:
    before = team.stack.properties()
    isolated_team.deploy()
    assert "AWS::EC2::NatGateway" not in life_steps.expect_everything_told(isolated_team)
    life_steps.expect_everything_told(team)
    assert team.stack.properties() == before


def test_second_cluster_in_the_first_teams_eks_cluster(team: ClusterLife, guest: ClusterLife) -> None:
    before, eks = team.stack.properties(), _eks_cluster(team)
    guest.deploy()
    read = life_steps.expect_everything_told(guest)
    assert not read & {"AWS::EKS::Cluster", "AWS::EC2::VPC", "AWS::EKS::Addon"}
    assert guest.description["Orchestrator"]["Eks"]["ClusterArn"] == eks["arn"]
    issuer = eks["identity"]["oidc"]["issuer"].removeprefix("https://")
    role = guest.role_arn("TrainingPodRole").rpartition("/")[2]
    trust = guest.root.client("iam").get_role(RoleName=role)["Role"]["AssumeRolePolicyDocument"]
    assert trust["Statement"][0]["Condition"] == {
        "StringEquals": {
            f"{issuer}:aud": "sts.amazonaws.com",
            f"{issuer}:sub": "system:serviceaccount:hyperpod-finetune:trainer",
        }
    }
    life_steps.expect_everything_told(team)
    assert team.stack.properties() == before
    assert _eks_cluster(team) == eks


def test_no_team_writes_the_others_checkpoints(
    team: ClusterLife, isolated_team: ClusterLife, guest: ClusterLife
) -> None:
    life_steps.expect_own_checkpoints_only((team, isolated_team, guest), writer="TrainingPodRole")


def test_the_guest_leaves(team: ClusterLife, guest: ClusterLife) -> None:
    before, eks = team.stack.properties(), _eks_cluster(team)
    life_steps.destroy(guest)
    life_steps.expect_everything_told(team)
    assert team.stack.properties() == before
    assert _eks_cluster(team) == eks


def test_one_team_leaves(team: ClusterLife, isolated_team: ClusterLife) -> None:
    before = isolated_team.stack.properties()
    life_steps.destroy(team)
    life_steps.expect_everything_told(isolated_team)
    assert isolated_team.stack.properties() == before


def _eks_cluster(life: ClusterLife) -> dict[str, Any]:
    name = life.stack.only("AWS::EKS::Cluster")
    found: dict[str, Any] = life.root.client("eks").describe_cluster(name=name)["cluster"]
    return found
