"""What has to be there before a HyperPod cluster: each thing that is missing makes its creation fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from training_parts import LUSTRE_PORTS, Parts, worker_group

from aws_double import usage
from aws_double.progress import CREATION_SECONDS
from aws_double.session import Session

Refused = Callable[..., str]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "0")


@pytest.fixture
def parts(root: Session) -> Parts:
    return Parts(root)


class Wanted:
    """A cluster whose request a test changes before it is sent."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.hosts = parts.hosts()
        self.role = parts.role()
        self.group = worker_group(self.role, parts.scripts())
        self.request: dict[str, Any] = {
            "ClusterName": parts.name,
            "InstanceGroups": [self.group],
            "VpcConfig": {"SecurityGroupIds": [self.hosts], "Subnets": [parts.subnet]},
        }

    def create(self) -> str:
        made = self.parts.session.client("sagemaker").create_cluster(**self.request)
        return str(made["ClusterArn"])

    def refused(self) -> str:
        with pytest.raises(ClientError) as failure:
            self.create()
        assert failure.value.response["Error"]["Code"] == "ValidationException"
        names = self.parts.session.client("sagemaker").list_clusters(NameContains=self.parts.name)
        assert names["ClusterSummaries"] == []
        return str(failure.value)

    def mount(self, found: dict[str, Any], **changes: str) -> None:
        mount = {"DnsName": found["DNSName"], "MountName": found["LustreConfiguration"]["MountName"]}
        self.group["InstanceStorageConfigs"] = [
            {"FsxLustreConfig": {**mount, "MountPath": "/fsx", **changes}}
        ]


@pytest.fixture
def wanted(parts: Parts) -> Wanted:
    parts.route_to_s3()
    return Wanted(parts)


def test_with_all_of_it_a_cluster_is_created_and_holds_what_it_uses(wanted: Wanted) -> None:
    arn = wanted.create()
    assert (
        usage.holders(wanted.hosts)
        == usage.holders(wanted.parts.subnet)
        == usage.holders(wanted.role)
        == [arn]
    )


def test_the_entry_point_has_to_be_uploaded(wanted: Wanted) -> None:
    wanted.group["LifeCycleConfig"]["OnCreate"] = "other.sh"
    assert "/lifecycle-scripts/1/other.sh does not exist" in wanted.refused()


def test_a_deleted_entry_point_is_none(wanted: Wanted) -> None:
    s3, bucket = wanted.parts.session.client("s3"), wanted.parts.name
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    s3.delete_object(Bucket=bucket, Key="lifecycle-scripts/1/on_create.sh")
    assert "on_create.sh does not exist" in wanted.refused()


def test_the_bucket_of_the_scripts_has_to_exist(wanted: Wanted) -> None:
    wanted.group["LifeCycleConfig"]["SourceS3Uri"] = "s3://nobody-has-this-bucket/x"
    assert "the bucket of s3://nobody-has-this-bucket/x does not exist" in wanted.refused()


@pytest.mark.parametrize("missing", ["s3:GetObject", "s3:ListBucket"])
def test_the_role_has_to_read_the_scripts(wanted: Wanted, missing: str) -> None:
    (granted,) = {"s3:GetObject", "s3:ListBucket"} - {missing}
    wanted.group["ExecutionRole"] = wanted.parts.role(actions=(granted,))
    assert f"may not {missing}" in wanted.refused()


def test_a_cluster_without_scripts_needs_none(wanted: Wanted) -> None:
    del wanted.group["LifeCycleConfig"]
    wanted.group["ExecutionRole"] = wanted.parts.role(actions=("ec2:*",))
    assert wanted.create()


def test_the_role_has_to_have_a_policy(wanted: Wanted) -> None:
    wanted.group["ExecutionRole"] = wanted.parts.role(actions=())
    assert "has no policy, attached or inline" in wanted.refused()


def test_the_role_has_to_exist(wanted: Wanted) -> None:
    wanted.group["ExecutionRole"] = "arn:aws:iam::111122223333:role/nobody"
    assert "role/nobody does not exist" in wanted.refused()


def test_the_role_has_to_trust_the_service(wanted: Wanted) -> None:
    wanted.group["ExecutionRole"] = wanted.parts.role(service="ec2.amazonaws.com")
    assert "is not trusted by sagemaker.amazonaws.com" in wanted.refused()


def test_the_role_of_the_cluster_trusts_another_service(wanted: Wanted) -> None:
    wanted.request["ClusterRole"] = wanted.parts.role()
    assert "is not trusted by hyperpod.sagemaker.amazonaws.com" in wanted.refused()
    wanted.request["ClusterRole"] = wanted.parts.role(service="hyperpod.sagemaker.amazonaws.com")
    assert wanted.create()


@pytest.mark.parametrize(
    ("member", "id"), [("Subnets", "subnet-0123456789abcdef0"), ("SecurityGroupIds", "sg-0123456789abcdef0")]
)
def test_subnets_and_groups_have_to_exist(wanted: Wanted, member: str, id: str) -> None:
    wanted.request["VpcConfig"][member] = [id]
    assert f"{id} do not exist" in wanted.refused()


@pytest.mark.parametrize(
    ("has", "message"), [("Egress", "admit all traffic from"), ("Ingress", "all traffic to")]
)
def test_efa_needs_rules_that_name_the_group_itself_both_ways(wanted: Wanted, has: str, message: str) -> None:
    group = wanted.parts.group()
    wanted.parts.open(group, has, group)
    wanted.request["VpcConfig"]["SecurityGroupIds"] = [wanted.hosts, group]
    assert message in wanted.refused()


def test_efa_takes_no_address_range_for_the_group(wanted: Wanted) -> None:
    ec2, group = wanted.parts.session.client("ec2"), wanted.parts.group()
    everything = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=everything)
    ec2.authorize_security_group_egress(GroupId=group, IpPermissions=everything)
    wanted.request["VpcConfig"]["SecurityGroupIds"] = [group]
    assert "EFA health checks fail" in wanted.refused()


def test_groups_without_efa_need_no_rules_for_it(wanted: Wanted) -> None:
    wanted.group["InstanceType"] = "ml.m5.2xlarge"
    wanted.request["VpcConfig"]["SecurityGroupIds"] = [wanted.parts.group()]
    assert wanted.create()


def test_the_network_of_a_group_of_its_own_is_looked_at(wanted: Wanted) -> None:
    subnet = wanted.parts.make_subnet("10.0.9.0/24", "a")
    wanted.group["OverrideVpcConfig"] = {"SecurityGroupIds": [wanted.hosts], "Subnets": [subnet]}
    assert f"{subnet} has no way to S3" in wanted.refused()
    wanted.parts.route_to_s3(subnet)
    assert wanted.create()


def test_a_subnet_needs_a_way_to_s3(parts: Parts) -> None:
    wanted = Wanted(parts)
    assert f"{parts.subnet} has no way to S3" in wanted.refused()


def test_an_internet_gateway_is_no_way_to_s3_and_a_nat_gateway_is(parts: Parts) -> None:
    ec2, wanted = parts.session.client("ec2"), Wanted(parts)
    internet = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=internet, VpcId=parts.vpc)
    table = ec2.create_route_table(VpcId=parts.vpc)["RouteTable"]["RouteTableId"]
    ec2.associate_route_table(RouteTableId=table, SubnetId=parts.subnet)
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=internet)
    assert "has no way to S3" in wanted.refused()
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    public = parts.make_subnet("10.0.8.0/24", "a")
    nat = ec2.create_nat_gateway(SubnetId=public, AllocationId=address)["NatGateway"]["NatGatewayId"]
    ec2.replace_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)
    assert wanted.create()


class Mounted(Wanted):
    """A cluster that mounts a file system in a group of its own."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.lustre = parts.lustre_group()
        self.found = parts.file_system(self.lustre)
        self.mount(self.found)

    def rules(self) -> list[tuple[str, str, str, tuple[int, int]]]:
        return [
            (owner, direction, peer, ports)
            for owner, peer in ((self.hosts, self.lustre), (self.lustre, self.hosts))
            for direction in ("Ingress", "Egress")
            for ports in LUSTRE_PORTS
        ]


@pytest.fixture
def mounted(parts: Parts) -> Mounted:
    parts.route_to_s3()
    return Mounted(parts)


def test_a_file_system_can_be_mounted_with_rules_on_both_sides(mounted: Mounted) -> None:
    for rule in mounted.rules():
        mounted.parts.open(*rule)
    assert mounted.create()


@pytest.mark.parametrize("missing", range(8))
def test_each_rule_of_the_mount_is_needed(mounted: Mounted, missing: int) -> None:
    left_out = mounted.rules()[missing]
    for rule in mounted.rules():
        if rule != left_out:
            mounted.parts.open(*rule)
    owner, direction, peer, (first, last) = left_out
    ports = f"{first}" if first == last else f"{first}-{last}"
    side = "from" if direction == "Ingress" else "to"
    assert f"no {direction.lower()} of tcp {ports} on {owner} {side} {peer}" in mounted.refused()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"}, "there is no LUSTRE file system"),
        ({"MountName": "fsx"}, "has the mount name"),
    ],
)
def test_the_mount_has_to_name_the_file_system(
    mounted: Mounted, change: dict[str, str], message: str
) -> None:
    for rule in mounted.rules():
        mounted.parts.open(*rule)
    mounted.mount(mounted.found, **change)
    assert message in mounted.refused()


def test_the_address_has_to_be_that_of_the_region(mounted: Mounted) -> None:
    for rule in mounted.rules():
        mounted.parts.open(*rule)
    mounted.mount(mounted.found, DnsName=mounted.found["DNSName"].replace("us-west-2", "us-east-1"))
    assert "has the address" in mounted.refused()


def test_the_file_system_has_to_be_available(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    parts.route_to_s3()
    monkeypatch.setenv(CREATION_SECONDS, "0.3")
    wanted = Mounted(parts)
    for rule in wanted.rules():
        parts.open(*rule)
    fsx, id = parts.session.client("fsx"), wanted.found["FileSystemId"]
    if fsx.describe_file_systems(FileSystemIds=[id])["FileSystems"][0]["Lifecycle"] == "CREATING":
        assert "is CREATING, not AVAILABLE" in wanted.refused()
    time.sleep(0.3)
    assert wanted.create()
    fsx.delete_file_system(FileSystemId=id)
    wanted.request["ClusterName"] = f"{parts.name}x"
    with pytest.raises(ClientError, match="is DELETING, not AVAILABLE"):
        wanted.create()


def test_an_openzfs_file_system_needs_the_nfs_port(wanted: Wanted) -> None:
    parts, group = wanted.parts, wanted.parts.group()
    found = parts.session.client("fsx").create_file_system(
        FileSystemType="OPENZFS",
        StorageCapacity=64,
        SubnetIds=[parts.subnet],
        SecurityGroupIds=[group],
        OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 64},
    )["FileSystem"]
    mount = {"DnsName": found["DNSName"], "MountPath": "/home"}
    wanted.group["InstanceStorageConfigs"] = [{"FsxOpenZfsConfig": mount}]
    assert f"no egress of tcp 2049 on {wanted.hosts} to {group}" in wanted.refused()
    parts.open(wanted.hosts, "Egress", group, (2049, 2049))
    assert f"no ingress of tcp 2049 on {group} from {wanted.hosts}" in wanted.refused()
    parts.open(group, "Ingress", wanted.hosts, (2049, 2049))
    assert wanted.create()


def test_efa_clients_of_an_efa_file_system_need_all_traffic(wanted: Wanted) -> None:
    parts = wanted.parts
    group = parts.open_to_itself(parts.group())
    found = parts.session.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=38400,
        SubnetIds=[parts.subnet],
        SecurityGroupIds=[group],
        LustreConfiguration={
            "DeploymentType": "PERSISTENT_2",
            "PerUnitStorageThroughput": 125,
            "EfaEnabled": True,
            "MetadataConfiguration": {"Mode": "AUTOMATIC"},
        },
    )["FileSystem"]
    wanted.mount(found)
    for owner, peer in ((wanted.hosts, group), (group, wanted.hosts)):
        for direction in ("Ingress", "Egress"):
            assert "of all traffic on" in wanted.refused()
            parts.open(owner, direction, peer)
    assert wanted.create()


def on_eks(wanted: Wanted, **properties: Any) -> str:
    """Put the cluster on EKS; the name of the EKS cluster."""
    made = wanted.parts.eks_cluster(**properties)
    wanted.request["Orchestrator"] = {"Eks": {"ClusterArn": made.attributes["Arn"]}}
    return made.physical_id


def test_a_cluster_on_eks_keeps_the_eks_cluster(wanted: Wanted) -> None:
    name, eks = on_eks(wanted), wanted.parts.session.client("eks")
    arn = wanted.create()
    with pytest.raises(eks.exceptions.ResourceInUseException, match=arn):
        eks.delete_cluster(name=name)


def test_the_eks_cluster_has_to_exist(wanted: Wanted) -> None:
    arn = "arn:aws:eks:us-west-2:111122223333:cluster/nobody"
    wanted.request["Orchestrator"] = {"Eks": {"ClusterArn": arn}}
    assert f"there is no EKS cluster {arn}" in wanted.refused()


def test_the_eks_cluster_has_to_be_active(wanted: Wanted, monkeypatch: pytest.MonkeyPatch) -> None:
    name, eks = on_eks(wanted), wanted.parts.session.client("eks")
    monkeypatch.setenv(CREATION_SECONDS, "60")
    eks.update_cluster_config(name=name, deletionProtection=False)
    assert f"EKS cluster {name} is UPDATING, not ACTIVE" in wanted.refused()


def test_the_eks_cluster_has_to_take_access_entries(wanted: Wanted) -> None:
    name = on_eks(wanted, AccessConfig={"AuthenticationMode": "CONFIG_MAP"})
    assert "has the authentication mode CONFIG_MAP" in wanted.refused()
    eks = wanted.parts.session.client("eks")
    eks.update_cluster_config(name=name, accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"})
    assert wanted.create()


def test_the_dependency_chart_has_to_be_installed(wanted: Wanted) -> None:
    on_eks(wanted, Tags=[{"Key": "aws-double:helm-releases", "Value": "kube-system/other"}])
    assert "has no Helm release hyperpod-dependencies in kube-system" in wanted.refused()


def test_a_private_kubernetes_api_has_to_be_reached(wanted: Wanted) -> None:
    parts, group = wanted.parts, wanted.parts.group()
    network = {
        "SubnetIds": parts.eks_subnets(),
        "SecurityGroupIds": [group],
        "EndpointPrivateAccess": True,
        "EndpointPublicAccess": False,
    }
    on_eks(wanted, ResourcesVpcConfig=network)
    assert "does not reach the Kubernetes API: no egress of tcp 443" in wanted.refused()
    parts.open(wanted.hosts, "Egress", group, (443, 443))
    assert "does not reach the Kubernetes API: no ingress of tcp 443" in wanted.refused()
    parts.open(group, "Ingress", wanted.hosts, (443, 443))
    assert wanted.create()


def test_nodes_and_eks_cluster_are_in_one_vpc(wanted: Wanted, root: Session) -> None:
    other = Parts(root).eks_cluster()
    wanted.request["Orchestrator"] = {"Eks": {"ClusterArn": other.attributes["Arn"]}}
    assert f"the VPC of EKS cluster {other.physical_id}" in wanted.refused()


def test_all_that_is_missing_is_said_at_once(parts: Parts) -> None:
    wanted = Wanted(parts)
    wanted.group["LifeCycleConfig"]["OnCreate"] = "other.sh"
    message = wanted.refused()
    assert "other.sh does not exist" in message
    assert "has no way to S3" in message


def test_an_update_needs_the_same(wanted: Wanted) -> None:
    wanted.create()
    sagemaker = wanted.parts.session.client("sagemaker")
    scripts = {
        **wanted.group["LifeCycleConfig"],
        "SourceS3Uri": f"s3://{wanted.parts.name}/lifecycle-scripts/2",
    }
    changed = {**wanted.group, "LifeCycleConfig": scripts}
    with pytest.raises(ClientError, match=r"lifecycle-scripts/2/on_create\.sh does not exist"):
        sagemaker.update_cluster(ClusterName=wanted.parts.name, InstanceGroups=[changed])
    wanted.parts.session.client("s3").put_object(
        Bucket=wanted.parts.name, Key="lifecycle-scripts/2/on_create.sh", Body=b"#!/bin/bash\n"
    )
    sagemaker.update_cluster(ClusterName=wanted.parts.name, InstanceGroups=[changed])
