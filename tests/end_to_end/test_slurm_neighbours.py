"""Clusters with Slurm of several teams in one account and region, some in what a team has already."""

from __future__ import annotations

from pathlib import Path

import life_steps
import pytest
from assemblies import spec_of, with_counts
from cdk_command import CdkCommand
from cluster_life import ClusterLife
from deployed_stack import DeployedStack
from foundation import SCRIPTS_PREFIX, STACK_NAME, foundation
from published import bootstrap, create

from aws_double.running import Running

pytestmark = pytest.mark.steps_of_one_story

USUAL = spec_of("llm-train.yaml")


@pytest.fixture(scope="module")
def team(double: Running, cdk: CdkCommand, folder: Path) -> ClusterLife:
    """The usual cluster."""
    spec = spec_of("llm-train.yaml", name="team-a", instance_groups=with_counts(USUAL, workers=2))
    bootstrap(double.session())
    return ClusterLife(double, cdk, folder, spec)


@pytest.fixture(scope="module")
def isolated_team(double: Running, cdk: CdkCommand, folder: Path) -> ClusterLife:
    """Another one, without a way to the internet."""
    spec = spec_of(
        "llm-train.yaml",
        name="team-b",
        instance_groups=with_counts(USUAL, workers=2),
        network={**USUAL.network.model_dump(exclude_unset=True), "isolated": True},
    )
    return ClusterLife(double, cdk, folder, spec)


@pytest.fixture(scope="module")
def owned(double: Running) -> DeployedStack:
    """A network, a role and a bucket that nobody made for HyperPod."""
    stack = create(double.session(), STACK_NAME, foundation(zone_id="usw2-az2"))
    assert stack.status == "CREATE_COMPLETE", stack.events
    return stack


def test_first_team(team: ClusterLife) -> None:
    team.deploy()
    life_steps.expect_everything_told(team)


def test_second_team_beside_it(team: ClusterLife, isolated_team: ClusterLife) -> None:
    before = team.stack.properties()
    isolated_team.deploy()
    read = life_steps.expect_everything_told(isolated_team)
    assert "AWS::EC2::NatGateway" not in read
    ec2 = isolated_team.root.client("ec2")
    vpc = {"Name": "vpc-id", "Values": [isolated_team.stack.only("AWS::EC2::VPC")]}
    kinds = [
        endpoint["VpcEndpointType"] for endpoint in ec2.describe_vpc_endpoints(Filters=[vpc])["VpcEndpoints"]
    ]
    assert set(kinds) == {"Gateway", "Interface"}
    life_steps.expect_everything_told(team)
    assert team.stack.properties() == before


def test_no_team_writes_the_others_checkpoints(team: ClusterLife, isolated_team: ClusterLife) -> None:
    life_steps.expect_own_checkpoints_only((team, isolated_team), writer="ExecutionRole")


def test_one_team_leaves(team: ClusterLife, isolated_team: ClusterLife) -> None:
    before = isolated_team.stack.properties()
    life_steps.destroy(team)
    life_steps.expect_everything_told(isolated_team)
    assert isolated_team.stack.properties() == before


def test_imported_network_and_role(
    owned: DeployedStack, double: Running, cdk: CdkCommand, folder: Path
) -> None:
    """``small-existing-network.yaml`` with ids that exist."""
    example = spec_of("small-existing-network.yaml")
    outputs = owned.outputs
    spec = spec_of(
        "small-existing-network.yaml",
        region=double.region,
        network={
            "vpc_id": outputs["VpcId"],
            "subnet_ids": [outputs["SubnetId"]],
            "security_group_ids": [outputs["GroupId"]],
            "subnet_cidr": "10.20.0.0/24",
        },
        instance_groups=[
            {**group, "execution_role_arn": outputs["RoleArn"]}
            for group in example.model_dump(exclude_unset=True)["instance_groups"]
        ],
    )
    life = ClusterLife(double, cdk, folder, spec)
    _deploy_and_destroy(life, owned)


def test_imported_bucket_of_scripts(
    owned: DeployedStack, double: Running, cdk: CdkCommand, folder: Path
) -> None:
    """``own-lifecycle-scripts.yaml`` with a bucket that exists."""
    bucket = owned.outputs["Bucket"]
    double.session().client("s3").put_object(
        Bucket=bucket, Key=f"{SCRIPTS_PREFIX}/on_create.sh", Body=b"#!/bin/bash\n"
    )
    spec = spec_of(
        "own-lifecycle-scripts.yaml",
        region=double.region,
        network={"availability_zone_id": "usw2-az2"},
        lifecycle_scripts={
            "source_s3_uri": f"s3://{bucket}/{SCRIPTS_PREFIX}/",
            "entry_point": "on_create.sh",
        },
    )
    life = ClusterLife(double, cdk, folder, spec)
    _deploy_and_destroy(life, owned)


def _deploy_and_destroy(life: ClusterLife, owned: DeployedStack) -> None:
    """Let a cluster come and go, and see that what it found is as it was."""
    before = owned.properties()
    life.deploy()
    life_steps.expect_everything_told(life)
    life_steps.expect_as_asked(owned)
    life_steps.destroy(life)
    life_steps.expect_as_asked(owned)
    assert owned.properties() == before
