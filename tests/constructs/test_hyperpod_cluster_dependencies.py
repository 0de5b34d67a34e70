"""Creation waits for all that nodes need, deletion goes first, and no order of construction makes a cycle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack, assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from clusters import ENV, cluster, controller, template_of, workers
from create_cluster_model import IDENTIFIER, assert_clusters_are_legal

from hyperpod_constructs.auto_scaling import AutoScaling
from hyperpod_constructs.autoscaling_role import AutoscalingRole
from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.dependency_chart import DependencyChart
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.eks_control_plane import EksControlPlane
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.lustre_file_system import LustreFileSystem
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_model.catalog.add_ons import AFTER_NODES, BEFORE_NODES

_ADD_ON = "AWS::EKS::Addon"


def references(value: Any) -> Iterator[str]:
    """Logical ids that a part of a template names."""
    if isinstance(value, dict):
        if set(value) == {"Ref"}:
            yield value["Ref"]
        elif set(value) == {"Fn::GetAtt"}:
            yield value["Fn::GetAtt"][0]
        else:
            for item in value.values():
                yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


class Graph:
    """What waits for what, by CloudFormation's rules: DependsOn and references."""

    def __init__(self, template: dict[str, Any]) -> None:
        self.resources = template["Resources"]
        self.needs = {
            name: {
                *one.get("DependsOn", []),
                *(target for target in references(one.get("Properties", {})) if target in self.resources),
            }
            for name, one in self.resources.items()
        }

    def kind(self, name: str) -> str:
        return str(self.resources[name]["Type"])

    def names(self, kind: str) -> set[str]:
        return {name for name in self.resources if self.kind(name) == kind}

    def waits_for(self, start: str) -> set[str]:
        reached: set[str] = set()
        left = [start]
        while left:
            for name in self.needs[left.pop()] - reached:
                reached.add(name)
                left.append(name)
        return reached

    def cluster(self) -> str:
        (name,) = self.names(IDENTIFIER)
        return name

    def has_cycle(self) -> bool:
        return any(name in self.waits_for(name) for name in self.resources)


@pytest.fixture(scope="module")
def whole() -> Graph:
    where = Stack(App(), "Stack", env=ENV)
    network = ClusterNetwork(where, "Network", availability_zone_id="usw2-az1")
    nodes = EfaSecurityGroup(where, "Nodes", vpc=network.vpc)
    scripts = LifecycleScripts(where, "Scripts")
    key = kms.Key(where, "VolumeKey")
    role = ExecutionRole(
        where,
        "Role",
        subnets=[network.accelerator_subnet],
        security_groups=[nodes],
        lifecycle_scripts=scripts,
    )
    file_system = LustreFileSystem(
        where,
        "FileSystem",
        vpc=network.vpc,
        subnet=network.accelerator_subnet,
        client_security_groups=[nodes],
        storage_capacity_gib=4800,
        throughput_mbps_per_tib=250,
    )
    made = cluster(
        where,
        network=network,
        vpc_subnets=None,
        security_groups=[nodes],
        execution_role=role,
        lifecycle_scripts=scripts,
        file_system=file_system,
        instance_groups=[controller(), workers(root_volume_kms_key=key)],
    )
    # Whatever is added after the cluster counts as well.
    s3.Bucket(where, "Data").grant_read(role)
    late = iam.ManagedPolicy(role, "Late", roles=[role])
    late.add_statements(iam.PolicyStatement(actions=["s3:ListAllMyBuckets"], resources=["*"]))
    ec2.CfnSecurityGroupIngress(
        nodes,
        "LateRule",
        group_id=nodes.security_group_id,
        ip_protocol="tcp",
        from_port=22,
        to_port=22,
        cidr_ip="10.0.0.0/16",
    )
    template = template_of(made)
    assert_clusters_are_legal(template)
    return Graph(template)


@pytest.mark.parametrize(
    ("kind", "at_least"),
    [
        ("AWS::IAM::ManagedPolicy", 2),
        ("AWS::EC2::SecurityGroup", 2),
        ("AWS::EC2::SecurityGroupIngress", 4),
        ("AWS::EC2::SecurityGroupEgress", 3),
        ("AWS::EC2::Route", 2),
        ("AWS::EC2::NatGateway", 1),
        ("AWS::EC2::SubnetRouteTableAssociation", 2),
        ("AWS::EC2::NetworkAclEntry", 4),
        ("AWS::EC2::SubnetNetworkAclAssociation", 1),
        ("Custom::CDKBucketDeployment", 1),
        ("AWS::S3::BucketPolicy", 1),
        ("AWS::FSx::FileSystem", 1),
        ("AWS::KMS::Key", 3),
    ],
)
def test_the_cluster_waits_for_every(whole: Graph, kind: str, at_least: int) -> None:
    waited = {name for name in whole.waits_for(whole.cluster()) if whole.kind(name) == kind}
    assert len(waited) >= at_least, waited


def test_the_cluster_waits_for_each_policy_and_rule(whole: Graph) -> None:
    waited = whole.waits_for(whole.cluster())
    rules = {"AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress", "AWS::FSx::FileSystem"}
    for kind in rules:
        assert whole.names(kind) <= waited
    about_the_role = {name for name in whole.names("AWS::IAM::ManagedPolicy") if name.startswith("Role")}
    assert len(about_the_role) == 2
    assert about_the_role <= waited
    assert {name for name in whole.resources if "LateRule" in name} <= waited


@pytest.fixture(scope="module")
def on_eks() -> Graph:
    where = Stack(App(), "Stack", env=ENV)
    network = ClusterNetwork(
        where,
        "Network",
        availability_zone_id="usw2-az1",
        control_plane_availability_zone_ids=["usw2-az1", "usw2-az2"],
    )
    nodes = EfaSecurityGroup(where, "Nodes", vpc=network.vpc)
    control_plane = EksControlPlane(
        where,
        "Eks",
        network=network,
        dependency_chart=DependencyChart.from_oci("oci://registry.example/chart", version="0.1.0"),
        administrators=[iam.Role.from_role_arn(where, "Admin", "arn:aws:iam::111122223333:role/admin")],
    )
    control_plane.allow_nodes(nodes)
    role = ExecutionRole(
        where,
        "Role",
        orchestrator="eks",
        subnets=[network.accelerator_subnet],
        security_groups=[nodes],
    )
    scaling = AutoScaling(role=AutoscalingRole(where, "Autoscaler"))
    clusters = [
        HyperPodCluster(
            where,
            name.capitalize(),
            cluster_name=name,
            orchestrator=Orchestrator.eks(control_plane),
            network=network,
            security_groups=[nodes],
            execution_role=role,
            auto_scaling=scaling,
            instance_groups=[
                InstanceGroup(name="system", instance_type="ml.m5.2xlarge", instance_count=2),
                InstanceGroup(name="burst", instance_type="ml.g6.12xlarge", instance_count=0),
            ],
        )
        for name in ("first", "second")
    ]
    control_plane.install_operators(after=clusters)
    template = template_of(clusters[0])
    assert_clusters_are_legal(template)
    return Graph(template)


@pytest.mark.parametrize(
    "kind",
    [
        "AWS::EKS::Cluster",
        "AWS::EKS::AccessEntry",
        "Custom::AWSCDK-EKS-HelmChart",
        "AWS::EC2::NatGateway",
        "AWS::EC2::SecurityGroup",
    ],
)
def test_clusters_on_eks_wait_for_every(on_eks: Graph, kind: str) -> None:
    names = on_eks.names(kind)
    assert names
    for made in on_eks.names(IDENTIFIER):
        assert names <= on_eks.waits_for(made)


def test_clusters_on_eks_wait_for_what_nodes_need_and_operators_for_them(on_eks: Graph) -> None:
    clusters = on_eks.names(IDENTIFIER)
    assert len(clusters) == 2
    names = {name: on_eks.resources[name]["Properties"]["AddonName"] for name in on_eks.names(_ADD_ON)}
    assert set(names.values()) == {*BEFORE_NODES, *AFTER_NODES}
    for name, add_on in names.items():
        for made in clusters:
            assert (name in on_eks.waits_for(made)) is (add_on in BEFORE_NODES)
            assert (made in on_eks.waits_for(name)) is (add_on in AFTER_NODES)


def test_clusters_on_eks_wait_for_the_role_of_the_autoscaler(on_eks: Graph) -> None:
    policies = {name for name in on_eks.resources if name.startswith("Autoscaler")}
    assert len(policies) > 1
    for made in on_eks.names(IDENTIFIER):
        assert policies <= on_eks.waits_for(made)


def test_there_is_no_cycle_on_eks(on_eks: Graph) -> None:
    assert not on_eks.has_cycle()


def test_nothing_that_the_nodes_do_not_need_is_waited_for(whole: Graph) -> None:
    assert not whole.names("AWS::EC2::FlowLog") & whole.waits_for(whole.cluster())


def test_there_is_no_cycle(whole: Graph) -> None:
    assert not whole.has_cycle()


def test_the_graph_finds_cycles() -> None:
    made = {name: {"Type": "T", "DependsOn": [other]} for name, other in (("a", "b"), ("b", "a"))}
    assert Graph({"Resources": made}).has_cycle()


def test_grants_to_others_make_no_cycle() -> None:
    where = Stack(App(), "Stack", env=ENV)
    role = iam.Role(where, "Nodes", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    made = cluster(where, execution_role=role)
    operator = iam.Role(where, "Operator", assumed_by=iam.AccountRootPrincipal())
    made.grant_describe(operator)
    key = kms.Key(where, "Key")
    key.grant_encrypt_decrypt(role)
    graph = Graph(template_of(made))
    assert not graph.has_cycle()
    assert {name for name in graph.names("AWS::IAM::Policy") if "Nodes" in name} <= graph.waits_for(
        graph.cluster()
    )
    assert not {name for name in graph.resources if "Operator" in name} & graph.waits_for(graph.cluster())


def test_the_l2_vpcs_way_out_is_waited_for() -> None:
    where = Stack(App(), "Stack", env=ENV)
    vpc = ec2.Vpc(where, "Vpc", availability_zones=["us-west-2a"], nat_gateways=1)
    made = cluster(
        where, vpc_subnets=vpc.private_subnets, security_groups=[ec2.SecurityGroup(where, "G", vpc=vpc)]
    )
    graph = Graph(template_of(made))
    waited = graph.waits_for(graph.cluster())
    assert graph.names("AWS::EC2::NatGateway") <= waited
    assert {name for name in graph.names("AWS::EC2::Route") if "Private" in name} <= waited
    assert not graph.has_cycle()


def test_scripts_of_a_single_group_are_waited_for(tmp_path: Path) -> None:
    (tmp_path / "own.sh").write_text("#!/bin/bash\nset -euo pipefail\n", encoding="utf-8", newline="\n")
    (tmp_path / "own.sh").chmod(0o755)
    where = Stack(App(), "Stack", env=ENV)
    own = LifecycleScripts(where, "Own", folder=tmp_path, entry_point="own.sh")
    made = cluster(where, instance_groups=[controller(), workers(lifecycle_scripts=own)])
    graph = Graph(template_of(made))
    assert graph.names("Custom::CDKBucketDeployment") <= graph.waits_for(graph.cluster())


def test_a_role_of_another_stack_is_waited_for() -> None:
    app = App()
    roles = Stack(app, "Roles", env=ENV)
    role = iam.Role(roles, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    where = Stack(app, "Stack", env=ENV)
    made = cluster(where, execution_role=role)
    assert isinstance(made, HyperPodCluster)
    assembly = app.synth()
    depended = [one.id for one in assembly.get_stack_artifact(where.artifact_id).dependencies]
    assert roles.artifact_id in depended
    assertions.Template.from_stack(where).resource_count_is(IDENTIFIER, 1)
