"""What a cluster names is made in the double before the cluster is deployed to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from assemblies import CLUSTERS, spec_of
from hyperpod_demo.stand_ins import StandIns, with_stand_ins

from aws_double.running import Running, running
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster

SLURM = {
    "name": "own",
    "region": "us-west-2",
    "network": {"availability_zone_id": "usw2-az1"},
    "instance_groups": [
        {
            "name": "controller",
            "node_type": "Controller",
            "instance_type": "ml.m5.xlarge",
            "instance_count": 1,
        },
        {
            "name": "workers",
            "node_type": "Compute",
            "partition_names": ["all"],
            "instance_type": "ml.m5.xlarge",
            "instance_count": 1,
        },
    ],
}
KEY = "arn:aws:kms:us-west-2:444455556666:key/01234567-89ab-cdef-0123-456789abcdef"


@pytest.fixture(scope="module")
def double(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(folder=tmp_path_factory.mktemp("double")) as started:
        yield started


def request() -> ClusterSpec:
    file = CLUSTERS / "llm-train-request.json"
    return load_cluster(file, region="us-west-2", availability_zone_id="usw2-az2").spec


def cluster(**group: object) -> ClusterSpec:
    controller, workers = SLURM["instance_groups"]
    return ClusterSpec.model_validate({**SLURM, "instance_groups": [controller, {**workers, **group}]})


TOPIC = "arn:aws:sns:us-west-2:444455556666:platform"
OWN_TOPIC = ClusterSpec.model_validate(SLURM | {"name": "told", "observability": {"topic_arn": TOPIC}})


def stand_ins(spec: ClusterSpec) -> StandIns:
    assert spec.region is not None
    return StandIns(spec, region=spec.region)


@pytest.mark.parametrize("example", ["llm-train.yaml", "llm-train-eks.yaml"])
def test_a_cluster_that_names_nothing_needs_none(example: str) -> None:
    needed = stand_ins(spec_of(example))
    assert not needed
    assert needed.uncovered == []


def kinds(spec: ClusterSpec) -> set[str]:
    return {one["Type"].removeprefix("AWS::") for one in stand_ins(spec).template["Resources"].values()}


def test_examples_that_name_what_exists_are_covered() -> None:
    network = {"EC2::VPC", "EC2::RouteTable", "EC2::VPCEndpoint", "EC2::Subnet", "EC2::SecurityGroup"}
    rules = {"EC2::SecurityGroupIngress", "EC2::SecurityGroupEgress", "EC2::SubnetRouteTableAssociation"}
    assert kinds(spec_of("small-existing-network.yaml")) == {*network, *rules, "IAM::Role"}
    assert kinds(spec_of("llm-train-eks-existing.yaml")) == {*network, *rules, "IAM::Role", "EKS::Cluster"}
    assert kinds(spec_of("own-lifecycle-scripts.yaml")) == {"S3::Bucket"}
    assert kinds(request()) == {"IAM::Role", "S3::Bucket"}
    for example in CLUSTERS.glob("*.yaml"):
        assert stand_ins(spec_of(example.name)).uncovered == []


def test_a_key_has_a_stand_in_and_a_training_plan_needs_none() -> None:
    assert kinds(cluster(root_volume_kms_key_arn=KEY)) == {"KMS::Key"}
    plan = "arn:aws:sagemaker:us-west-2:444455556666:training-plan/p5"
    needed = stand_ins(cluster(training_plan_arn=plan))
    assert not needed
    assert needed.uncovered == []


def test_a_topic_has_a_stand_in_that_admits_those_who_publish() -> None:
    needed = stand_ins(OWN_TOPIC)
    assert needed.uncovered == []
    assert kinds(OWN_TOPIC) == {"SNS::Topic", "SNS::TopicPolicy"}
    assert "events.amazonaws.com" in json.dumps(needed.template)


def test_what_nothing_stands_in_for_is_named() -> None:
    secret = "arn:aws:secretsmanager:us-west-2:444455556666:secret:accounting-AbCdEf"
    spec = ClusterSpec.model_construct(**{**dict(cluster()), "name": secret})
    assert stand_ins(spec).uncovered == [secret]


def test_policies_of_aws_are_there_already() -> None:
    policy = "arn:aws:iam::aws:policy/ReadOnlyAccess"
    spec = ClusterSpec.model_construct(**{**dict(cluster()), "name": policy})
    assert stand_ins(spec).uncovered == []


@pytest.mark.parametrize("prefix_length", [16, 17, 20, 24])
def test_subnets_do_not_overlap_whatever_range_the_cluster_says(prefix_length: int) -> None:
    network = {
        "vpc_id": "vpc-0123456789abcdef0",
        "subnet_ids": ["subnet-0123456789abcdef0"],
        "security_group_ids": ["sg-0123456789abcdef0"],
        "subnet_cidr": f"10.20.0.0/{prefix_length}",
    }
    resources = stand_ins(spec_of("llm-train-eks-existing.yaml", network=network)).template["Resources"]
    ranges = {
        one["Properties"]["CidrBlock"] for one in resources.values() if one["Type"] == "AWS::EC2::Subnet"
    }
    assert len(ranges) == 3
    assert (f"10.20.0.0/{prefix_length}" in ranges) == (prefix_length > 16)


@pytest.mark.parametrize("spec", [spec_of("llm-train-eks.yaml"), request()], ids=["spec", "request"])
def test_a_cluster_without_new_names_stays_as_it_was(spec: ClusterSpec, tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_text(with_stand_ins(spec, {}))
    assert load_cluster(tmp_path / "cluster.json").spec == spec


def test_names_are_replaced_whole() -> None:
    spec = cluster(execution_role_arn="arn:aws:iam::444455556666:role/node", root_volume_kms_key_arn=KEY)
    made = {"arn:aws:iam::444455556666:role/node": "arn:aws:iam::111122223333:role/node"}
    workers = json.loads(with_stand_ins(spec, made))["instance_groups"][1]
    assert workers["execution_role_arn"] == "arn:aws:iam::111122223333:role/node"
    assert workers["root_volume_kms_key_arn"] == KEY


@pytest.mark.parametrize(
    "spec",
    [
        spec_of("small-existing-network.yaml"),
        spec_of("llm-train-eks-existing.yaml"),
        spec_of("own-lifecycle-scripts.yaml"),
        cluster(root_volume_kms_key_arn=KEY),
        OWN_TOPIC,
    ],
    ids=lambda spec: spec.name,
)
def test_the_double_makes_them(double: Running, spec: ClusterSpec) -> None:
    needed = stand_ins(spec)
    session = double.session(spec.region)
    made = needed.make(session)
    ec2 = session.client("ec2")
    for named, one in made.items():
        kind = named.partition("-")[0]
        if kind == "vpc":
            assert ec2.describe_vpcs(VpcIds=[one])["Vpcs"]
        elif kind == "subnet":
            assert ec2.describe_subnets(SubnetIds=[one])["Subnets"]
        elif kind == "sg":
            assert ec2.describe_security_groups(GroupIds=[one])["SecurityGroups"]
        else:
            assert one.split(":")[2] == named.split(":")[2]
            assert ":111122223333:" in one
    scripts = spec.lifecycle_scripts
    if scripts is not None and scripts.source_s3_uri is not None:
        found = session.client("s3").list_objects_v2(Bucket="sagemaker-my-team-lifecycle")["Contents"]
        assert [one["Key"] for one in found] == ["pretrain/on_create.sh"]
