"""Arguments of the wrong kind: what Python and jsii would find late is refused at once, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, RemovalPolicy, Stack, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from hyperpod_constructs import (
    CheckpointBucket,
    ClusterNetwork,
    EfaSecurityGroup,
    ExecutionRole,
    HyperPodCluster,
    HyperPodStack,
    InstanceGroup,
    LifecycleScripts,
    LustreFileSystem,
    Orchestrator,
    ResiliencePolicy,
    SlurmNodeType,
)
from hyperpod_constructs.argument_kinds import ROLE, check_kind, check_kinds
from hyperpod_model.cluster_spec import load_cluster
from hyperpod_model.faults import InvalidInputError

EXAMPLE = Path(__file__).parents[2] / "examples" / "clusters" / "llm-train.yaml"
ROLE_ARN = "arn:aws:iam::111122223333:role/nodes"
KEY_ARN = "arn:aws:kms:us-west-2:111122223333:key/k"


def new_stack() -> Stack:
    return Stack(App(), "S", env=Environment(region="us-west-2"))


def vpc(scope: Stack) -> ec2.IVpc:
    return ec2.Vpc.from_vpc_attributes(scope, "Vpc", vpc_id="vpc-01234567", availability_zones=["us-west-2a"])


def subnet(scope: Stack) -> ec2.ISubnet:
    return ec2.Subnet.from_subnet_id(scope, "Subnet", "subnet-01234567")


def group(**changes: Any) -> InstanceGroup:
    said: dict[str, Any] = {
        "name": "workers",
        "instance_type": "ml.p5.48xlarge",
        "instance_count": 2,
        "slurm_node_type": SlurmNodeType.COMPUTE,
        "partition_names": ["train"],
    }
    return InstanceGroup(**said | changes)


def cluster(scope: Stack, **changes: Any) -> HyperPodCluster:
    said: dict[str, Any] = {
        "cluster_name": "llm",
        "instance_groups": [group()],
        "orchestrator": Orchestrator.slurm(),
    }
    return HyperPodCluster(scope, "C", **said | changes)


def lustre(scope: Stack, **changes: Any) -> LustreFileSystem:
    said: dict[str, Any] = {"vpc": vpc(scope), "subnet": subnet(scope), "storage_capacity_gib": 4800}
    return LustreFileSystem(scope, "F", throughput_mbps_per_tib=250, **said | changes)


REFUSED: list[tuple[Callable[[Stack], object], str]] = [
    (
        lambda s: group(execution_role=ROLE_ARN),
        "instance group 'workers': execution_role must be a role, such as iam.Role.from_role_arn(...), got "
        f"'{ROLE_ARN}'",
    ),
    (lambda s: group(root_volume_kms_key=KEY_ARN), "root_volume_kms_key must be a KMS key, such as"),
    (lambda s: group(secondary_volume_kms_key=KEY_ARN), "secondary_volume_kms_key must be a KMS key"),
    (lambda s: group(lifecycle_scripts="s3://b/x"), "lifecycle_scripts must be lifecycle scripts, such as"),
    (lambda s: group(mounts_file_system="no"), "mounts_file_system must be True or False, got 'no'"),
    (lambda s: group(unlisted_instance_type="x"), "unlisted_instance_type must be True or False, got 'x'"),
    (
        lambda s: group(instance_count=CfnParameter(s, "P", type="Number")),
        "instance_count must be a number, got a token of another kind; use value_as_number",
    ),
    (
        lambda s: group(min_instance_count=CfnParameter(s, "P", type="Number").value_as_string),
        "min_instance_count must be a number, got a token of another kind",
    ),
    (
        lambda s: cluster(s, instance_groups=[{"name": "x"}]),
        "cluster 'llm': instance_groups[0] must be an InstanceGroup(...), got a mapping",
    ),
    (
        lambda s: cluster(s, instance_groups=group()),
        "instance_groups must be a list, got an object of InstanceGroup; put it in brackets",
    ),
    (lambda s: cluster(s, instance_groups=None), "instance_groups must be a list, got None"),
    (lambda s: cluster(s, instance_groups=[]), "instance_groups is empty; a cluster has at least one group"),
    (lambda s: cluster(s, orchestrator="slurm"), "orchestrator must be an Orchestrator, such as Orch"),
    (lambda s: cluster(s, execution_role=ROLE_ARN), "execution_role must be a role, such as"),
    (lambda s: cluster(s, network="vpc-01234567"), "network must be a ClusterNetwork, such as"),
    (lambda s: cluster(s, vpc_subnets=["subnet-1"]), "vpc_subnets[0] must be a subnet, such as"),
    (lambda s: cluster(s, security_groups="sg-1"), "security_groups must be a list, got 'sg-1'"),
    (lambda s: cluster(s, lifecycle_scripts="s3://b/x"), "lifecycle_scripts must be lifecycle scripts"),
    (lambda s: cluster(s, file_system="fs-1"), "file_system must be a LustreFileSystem, got 'fs-1'"),
    (lambda s: cluster(s, resilience={}), "resilience must be a ResiliencePolicy(...), got a mapping"),
    (lambda s: cluster(s, unlisted_instance_types="ml.x"), "unlisted_instance_types must be a list, got 'ml"),
    (lambda s: ResiliencePolicy(commissioned="yes"), "commissioned must be True or False, got 'yes'"),
    (lambda s: group(deep_health_checks=[None]), "deep_health_checks[0] is nothing; give a value, or leave"),
    (lambda s: cluster(s, tags=[]), "tags must be a mapping of keys to values, got []"),
    (lambda s: Orchestrator.slurm(configuration="api"), "configuration must be SlurmConfiguration.BY_HYPER"),
    (
        lambda s: ClusterNetwork(s, "N", availability_zone_id=None),
        "availability_zone_id: must be the id of an Availability Zone such as usw2-az1, got None",
    ),
    (
        lambda s: ClusterNetwork.from_existing(s, "N", vpc="vpc-1", accelerator_subnet=subnet(s)),
        "cluster network 'S/N': vpc: must be a VPC, such as",
    ),
    (
        lambda s: ClusterNetwork.from_existing(s, "N", vpc=vpc(s), accelerator_subnet=None),
        "accelerator_subnet: must be a subnet, such as ec2.Subnet.from_subnet_id(...), got None",
    ),
    (lambda s: EfaSecurityGroup(s, "G", vpc="vpc-1"), "EFA security group 'S/G': vpc: must be a VPC"),
    (lambda s: lustre(s, vpc=None), "file system 'S/F': vpc: must be a VPC"),
    (lambda s: lustre(s, subnet="subnet-1"), "subnet: must be a subnet"),
    (lambda s: lustre(s, client_security_groups=["sg-1"]), "client_security_groups[0]: must be a security"),
    (lambda s: lustre(s, kms_key=KEY_ARN), "kms_key: must be a KMS key"),
    (
        lambda s: lustre(s, removal="retain"),
        "removal: must be FileSystemRemoval.RETAIN or FileSystemRemoval.FINAL_BACKUP, got 'retain'",
    ),
    (lambda s: lustre(s, removal=RemovalPolicy.RETAIN), "removal: must be FileSystemRemoval.RETAIN or"),
    (lambda s: CheckpointBucket(s, "B", writers=[ROLE_ARN]), "S/B.writers[0]: must be a role, such as"),
    (lambda s: CheckpointBucket(s, "B", readers=None), "S/B.readers: must be a list, got None"),
    (lambda s: CheckpointBucket(s, "B", administrators=ROLE_ARN), "S/B.administrators: must be a list, got"),
    (lambda s: CheckpointBucket(s, "B", kms_key=KEY_ARN), "S/B.kms_key: must be a KMS key"),
    (lambda s: CheckpointBucket(s, "B").add_writer(iam.User(s, "U")), "S/B.role: must be a role, such as"),
    (lambda s: CheckpointBucket(s, "B").add_reader(None), "S/B.role: must be a role"),
    (lambda s: CheckpointBucket(s, "B").add_administrator(ROLE_ARN), "S/B.role: must be a role"),
    (lambda s: CheckpointBucket(s, "B").grant_checkpointing(iam.User(s, "U")), "S/B.role: must be a role"),
    (lambda s: CheckpointBucket(s, "B").grant_read(iam.User(s, "U")), "S/B.role: must be a role"),
    (lambda s: CheckpointBucket.from_bucket(s, "B", bucket="b"), "S/B.bucket: must be a bucket, such as"),
    (
        lambda s: LifecycleScripts(s, "L", folder=5),
        "S/L.folder: needs the path of a folder of scripts, got 5",
    ),
    (lambda s: LifecycleScripts(s, "L", administrators=[ROLE_ARN]), "S/L.administrators[0]: must be a role"),
    (lambda s: LifecycleScripts(s, "L", kms_key=KEY_ARN), "S/L.kms_key: must be a KMS key"),
    (
        lambda s: LifecycleScripts.from_s3_uri(s, "L", source_s3_uri="s3://any/x", entry_point=None),
        "S/L.entry_point: needs the name of the file there that HyperPod runs, got None",
    ),
    (
        lambda s: LifecycleScripts.from_s3_uri(
            s, "L", source_s3_uri="s3://any/x", entry_point="x.sh", bucket="any"
        ),
        "S/L.bucket: must be a bucket",
    ),
    (lambda s: ExecutionRole(s, "R", subnets=["subnet-1"]), "S/R.subnets[0]: must be a subnet"),
    (lambda s: ExecutionRole(s, "R", security_groups="sg-1"), "S/R.security_groups: must be a list"),
    (lambda s: ExecutionRole(s, "R", lifecycle_scripts="s3://b/x"), "S/R.lifecycle_scripts: must be lifec"),
    (lambda s: ExecutionRole(s, "R", checkpoint_bucket="b"), "S/R.checkpoint_bucket: must be a Checkpoint"),
    (lambda s: ExecutionRole(s, "R", volume_keys=[KEY_ARN]), "S/R.volume_keys[0]: must be a KMS key"),
    (
        lambda s: HyperPodStack(App(), "H", spec=str(EXAMPLE)),
        "spec: must be a ClusterSpec, got a str; read a",
    ),
    (
        lambda s: HyperPodStack(App(), "H", spec=load_cluster(EXAMPLE)),
        "spec: must be a ClusterSpec, got a LoadedCluster; read a file with load_cluster(path).spec",
    ),
    (
        lambda s: HyperPodStack(
            App(), "H", spec=load_cluster(EXAMPLE).spec, env=Environment(region="us-east-1")
        ),
        "env.region: is 'us-east-1', while the specification is for 'us-west-2'; leave it out",
    ),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message[:60] for _, message in REFUSED])
def test_refuses_by_name(make: Callable[[Stack], object], message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        make(new_stack())
    assert message in str(caught.value)
    assert len(caught.value.faults) == 1


def test_two_clusters_of_a_stack_have_two_names() -> None:
    scope = new_stack()
    role = iam.Role.from_role_arn(scope, "Role", ROLE_ARN, mutable=False)
    controller = group(
        name="head",
        instance_type="ml.m5.2xlarge",
        instance_count=1,
        slurm_node_type=SlurmNodeType.CONTROLLER,
        partition_names=None,
    )

    def make(id: str, name: str) -> HyperPodCluster:
        return HyperPodCluster(
            scope,
            id,
            cluster_name=name,
            instance_groups=[controller],
            orchestrator=Orchestrator.slurm(),
            execution_role=role,
        )

    make("A", "one")
    make("B", "two")
    by_parameter = CfnParameter(scope, "Name").value_as_string
    make("C", by_parameter)
    make("D", by_parameter)
    with pytest.raises(
        InvalidInputError, match="'one': cluster_name is that of 'S/A' in the same stack; names"
    ):
        make("E", "one")


def test_objects_of_every_origin_pass() -> None:
    scope = new_stack()
    made = iam.Role(scope, "Made", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    imported = iam.Role.from_role_arn(scope, "Imported", ROLE_ARN, mutable=False)
    by_parameter = iam.Role.from_role_arn(scope, "ByParameter", CfnParameter(scope, "P").value_as_string)
    assert check_kinds([made, imported, by_parameter, ExecutionRole(scope, "R")], ROLE, ("roles",)) == []
    assert check_kind(None, ROLE, ("role",)) == []
    assert group(
        execution_role=imported,
        root_volume_kms_key=kms.Key.from_key_arn(scope, "Key", KEY_ARN),
        instance_count=Token.as_number({"Ref": "Count"}),
        lifecycle_scripts=LifecycleScripts.from_s3_uri(
            scope,
            "L",
            source_s3_uri="s3://any/x",
            entry_point="x.sh",
            bucket=s3.Bucket.from_bucket_name(scope, "B", "any"),
        ),
    )


def test_an_account_alone_leaves_the_region_to_the_specification() -> None:
    spec = load_cluster(EXAMPLE).spec
    stack = HyperPodStack(App(), "H", spec=spec, env=Environment(account="111122223333"))
    assert (stack.account, stack.region) == ("111122223333", "us-west-2")
