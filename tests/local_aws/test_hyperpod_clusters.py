"""HyperPod's API in the double: clusters, nodes with ids, and what is refused."""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.request import Request, urlopen

import pytest
from botocore.exceptions import ClientError, ParamValidationError
from training_parts import Parts

from aws_double import usage
from aws_double.progress import CREATION_SECONDS
from aws_double.session import Session


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "0")


class Site:
    """A cluster outside of any VPC of ours, which has no prerequisites but its role."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.api = session.client("sagemaker")
        self.parts = Parts(session)
        self.name = self.parts.name
        self.role = self.parts.role()

    def group(self, name: str = "workers", count: int = 2, **properties: Any) -> dict[str, Any]:
        return {
            "InstanceGroupName": name,
            "InstanceType": "ml.m5.2xlarge",
            "InstanceCount": count,
            "ExecutionRole": self.role,
            **properties,
        }

    def create(self, *groups: dict[str, Any], **properties: Any) -> str:
        asked = {"InstanceGroups": list(groups), "NodeProvisioningMode": "Continuous", **properties}
        return str(self.api.create_cluster(ClusterName=self.name, **asked)["ClusterArn"])

    def update(self, *groups: dict[str, Any], **properties: Any) -> None:
        asked = {"InstanceGroups": list(groups)} if groups else {}
        self.api.update_cluster(ClusterName=self.name, **asked, **properties)

    def ids(self, group: str = "workers") -> list[str]:
        pages = self.api.get_paginator("list_cluster_nodes").paginate(
            ClusterName=self.name, InstanceGroupNameContains=group, PaginationConfig={"PageSize": 2}
        )
        return [node["InstanceId"] for page in pages for node in page["ClusterNodeSummaries"]]


@pytest.fixture
def site(root: Session) -> Site:
    return Site(root)


def test_scaling_up_and_down_again_keeps_the_ids_of_the_nodes_that_stay(site: Site) -> None:
    site.create(site.group(count=2))
    two = site.ids()
    site.update(site.group(count=4))
    four = site.ids()
    site.update(site.group(count=2))
    assert four[:2] == two
    assert site.ids() == two
    assert len(set(four)) == 4


def test_a_cluster_becomes_in_service_with_its_nodes(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "0.4")
    arn = site.create(site.group())

    def seen() -> tuple[str, int, set[str]]:
        found = site.api.describe_cluster(ClusterName=arn)
        nodes = site.api.list_cluster_nodes(ClusterName=arn)["ClusterNodeSummaries"]
        states = {node["InstanceStatus"]["Status"] for node in nodes}
        return found["ClusterStatus"], found["InstanceGroups"][0]["CurrentCount"], states

    assert seen() == ("Creating", 0, {"Pending"})
    with pytest.raises(site.api.exceptions.ConflictException):
        site.update(site.group(count=3))
    time.sleep(0.45)
    assert seen() == ("InService", 2, {"Running"})
    site.update(site.group(count=3))
    assert site.api.describe_cluster(ClusterName=arn)["ClusterStatus"] == "Updating"


def test_describing_tells_every_property_that_was_asked_for(site: Site) -> None:
    storage = [{"EbsVolumeConfig": {"VolumeSizeInGB": 100}}]
    taints = [{"Key": "a", "Value": "b", "Effect": "NoSchedule"}]
    first = site.group(
        "first",
        ThreadsPerCore=1,
        MinInstanceCount=1,
        InstanceStorageConfigs=storage,
        OnStartDeepHealthChecks=["InstanceStress"],
        CapacityRequirements={"Spot": {}},
        KubernetesConfig={"Labels": {"x": "y"}, "Taints": taints},
    )
    second = site.group("second", InstanceRequirements={"InstanceTypes": ["ml.m5.4xlarge", "ml.m5.8xlarge"]})
    del second["InstanceType"]
    settings = {
        "NodeRecovery": "Automatic",
        "Orchestrator": {"Slurm": {}},
        "TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20},
        "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"},
    }
    site.create(first, second, **settings)
    found = site.api.describe_cluster(ClusterName=site.name)
    assert {key: found[key] for key in settings} == {
        **settings,
        "AutoScaling": {**settings["AutoScaling"], "Status": "InService"},
    }
    one, other = found["InstanceGroups"]
    assert one == {
        "InstanceGroupName": "first",
        "InstanceType": "ml.m5.2xlarge",
        "ExecutionRole": site.role,
        "TargetCount": 2,
        "CurrentCount": 2,
        "MinCount": 1,
        "Status": "InService",
        "ThreadsPerCore": 1,
        "InstanceStorageConfigs": storage,
        "OnStartDeepHealthChecks": ["InstanceStress"],
        "CapacityRequirements": {"Spot": {}},
        "KubernetesConfig": {
            "CurrentLabels": {"x": "y"},
            "DesiredLabels": {"x": "y"},
            "CurrentTaints": taints,
            "DesiredTaints": taints,
        },
    }
    assert other["InstanceRequirements"]["DesiredInstanceTypes"] == ["ml.m5.4xlarge", "ml.m5.8xlarge"]
    (node,) = site.api.list_cluster_nodes(
        ClusterName=site.name, InstanceGroupNameContains="second", MaxResults=1
    )["ClusterNodeSummaries"]
    assert node["InstanceType"] == "ml.m5.4xlarge"
    details = site.api.describe_cluster_node(ClusterName=site.name, NodeId=site.ids("first")[0])[
        "NodeDetails"
    ]
    assert (details["CapacityType"], details["ThreadsPerCore"]) == ("Spot", 1)


def test_a_node_has_an_address_of_its_subnet(site: Site) -> None:
    site.parts.route_to_s3()
    network = {"SecurityGroupIds": [site.parts.group()], "Subnets": [site.parts.subnet]}
    site.create(site.group(), VpcConfig=network)
    nodes = [
        site.api.describe_cluster_node(ClusterName=site.name, NodeId=id)["NodeDetails"] for id in site.ids()
    ]
    assert [node["PrivatePrimaryIp"] for node in nodes] == ["10.0.1.4", "10.0.1.5"]
    assert nodes[0]["PrivateDnsHostname"] == "ip-10-0-1-4.us-west-2.compute.internal"
    assert nodes[0]["Placement"]["AvailabilityZone"] == "us-west-2a"


def test_an_update_adds_and_deletes_groups_and_leaves_the_others(site: Site) -> None:
    site.create(site.group("one"), site.group("two"))
    one = site.ids("one")
    site.update(site.group("three", count=1), InstanceGroupsToDelete=["two"])
    groups = site.api.describe_cluster(ClusterName=site.name)["InstanceGroups"]
    assert [group["InstanceGroupName"] for group in groups] == ["one", "three"]
    assert site.ids("one") == one
    assert site.ids("two") == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"InstanceType": "ml.m5.4xlarge"}, "instance type of instance group workers cannot change"),
        ({"ThreadsPerCore": 2}, "threads per core of instance group workers cannot change"),
        (
            {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": "k"}}]},
            "KMS keys of the volumes",
        ),
    ],
)
def test_what_is_fixed_at_creation_cannot_change(site: Site, change: dict[str, Any], message: str) -> None:
    site.create(site.group(ThreadsPerCore=1))
    before = site.api.describe_cluster(ClusterName=site.name)
    with pytest.raises(ClientError, match=message):
        site.update(site.group(**{"ThreadsPerCore": 1, **change}))
    after = site.api.describe_cluster(ClusterName=site.name)
    assert before["InstanceGroups"] == after["InstanceGroups"]


def test_the_execution_role_of_a_group_cannot_change(site: Site) -> None:
    site.create(site.group())
    with pytest.raises(ClientError, match="execution role of instance group workers cannot change"):
        site.update(site.group(ExecutionRole=site.parts.role()))


def test_an_update_without_a_slurm_configuration_keeps_it(site: Site) -> None:
    slurm = {"NodeType": "Compute", "PartitionNames": ["train"]}
    site.create(site.group(SlurmConfig=slurm))
    site.update(site.group(count=3))
    (group,) = site.api.describe_cluster(ClusterName=site.name)["InstanceGroups"]
    assert group["SlurmConfig"] == slurm
    with pytest.raises(ClientError, match="Slurm node type of instance group workers cannot change"):
        site.update(site.group(SlurmConfig={"NodeType": "Login"}))


def test_the_role_of_autoscaling_stays_while_it_is_on(site: Site) -> None:
    service = "hyperpod.sagemaker.amazonaws.com"
    site.create(site.group(), AutoScaling={"Mode": "Enable"}, ClusterRole=site.parts.role(service=service))
    other = site.parts.role(service=service)
    with pytest.raises(ClientError, match="ClusterRole cannot change while AutoScaling is enabled"):
        site.update(ClusterRole=other)
    site.update(ClusterRole=other, AutoScaling={"Mode": "Disable"})
    assert site.api.describe_cluster(ClusterName=site.name)["ClusterRole"] == other


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"InstanceGroupsToDelete": ["other"]}, "no instance group other to delete"),
        (
            {"Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/x"}}},
            "Orchestrator.Eks cannot change",
        ),
    ],
)
def test_impossible_updates_are_refused(site: Site, asked: dict[str, Any], message: str) -> None:
    site.create(site.group())
    with pytest.raises(ClientError, match=message):
        site.update(**asked)


def test_a_replaced_node_has_a_new_id_and_the_same_logical_id(site: Site) -> None:
    site.create(site.group())

    def nodes() -> dict[str, str]:
        found = site.api.list_cluster_nodes(ClusterName=site.name, IncludeNodeLogicalIds=True)
        return {node["NodeLogicalId"]: node["InstanceId"] for node in found["ClusterNodeSummaries"]}

    before = nodes()
    (first, old), (second, stays) = before.items()
    done = site.api.batch_replace_cluster_nodes(ClusterName=site.name, NodeIds=[old, "i-0123456789abcdef0"])
    assert done["Successful"] == [old]
    assert [(one["NodeId"], one["ErrorCode"]) for one in done["Failed"]] == [
        ("i-0123456789abcdef0", "InstanceIdNotFound")
    ]
    after = nodes()
    assert after.keys() == before.keys()
    assert after[second] == stays
    assert after[first] not in before.values()
    done = site.api.batch_replace_cluster_nodes(ClusterName=site.name, NodeLogicalIds=[first])
    assert done["SuccessfulNodeLogicalIds"] == [first]


def test_a_rebooted_node_keeps_its_id(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.create(site.group())
    ids = site.ids()
    monkeypatch.setenv(CREATION_SECONDS, "60")
    site.api.batch_reboot_cluster_nodes(ClusterName=site.name, NodeIds=ids[:1])
    nodes = site.api.list_cluster_nodes(ClusterName=site.name)["ClusterNodeSummaries"]
    assert [(node["InstanceId"], node["InstanceStatus"]["Status"]) for node in nodes] == [
        (ids[0], "Pending"),
        (ids[1], "Running"),
    ]


def test_deleting_a_node_lowers_the_count_of_its_group(site: Site) -> None:
    site.create(site.group(count=3))
    first, second, third = site.ids()
    assert site.api.batch_delete_cluster_nodes(ClusterName=site.name, NodeIds=[second])["Successful"] == [
        second
    ]
    assert site.ids() == [first, third]
    (group,) = site.api.describe_cluster(ClusterName=site.name)["InstanceGroups"]
    assert group["TargetCount"] == 2


@pytest.mark.parametrize("operation", ["batch_delete_cluster_nodes", "batch_replace_cluster_nodes"])
def test_the_slurm_controller_is_spared(site: Site, operation: str) -> None:
    site.create(site.group("controller", count=1, SlurmConfig={"NodeType": "Controller"}))
    (id,) = site.ids("controller")
    done = getattr(site.api, operation)(ClusterName=site.name, NodeIds=[id])
    assert "is a Slurm controller node" in done["Failed"][0]["Message"]
    assert site.ids("controller") == [id]


@pytest.mark.parametrize(
    ("mode", "asked", "message"),
    [
        ({}, {}, "Either NodeIds or NodeLogicalIds"),
        ({}, {"NodeLogicalIds": ["node-1"]}, "NodeLogicalIds need NodeProvisioningMode Continuous"),
    ],
)
def test_impossible_batches_are_refused(
    site: Site, mode: dict[str, str], asked: dict[str, Any], message: str
) -> None:
    site.api.create_cluster(ClusterName=site.name, InstanceGroups=[site.group()], **mode)
    with pytest.raises(ClientError, match=message):
        site.api.batch_replace_cluster_nodes(ClusterName=site.name, **asked)


def test_a_software_update_keeps_the_nodes_and_says_when(site: Site) -> None:
    site.create(site.group("one"), site.group("two"))
    ids = site.ids("one")
    site.api.update_cluster_software(ClusterName=site.name, InstanceGroups=[{"InstanceGroupName": "one"}])
    nodes = site.api.list_cluster_nodes(ClusterName=site.name)["ClusterNodeSummaries"]
    assert site.ids("one") == ids
    assert {node["InstanceGroupName"]: "LastSoftwareUpdateTime" in node for node in nodes} == {
        "one": True,
        "two": False,
    }
    with pytest.raises(ClientError, match="has no instance groups other"):
        site.api.update_cluster_software(
            ClusterName=site.name, InstanceGroups=[{"InstanceGroupName": "other"}]
        )


def test_clusters_are_listed_in_order_and_by_page(site: Site) -> None:
    names = [f"{site.name}{letter}" for letter in "bac"]
    for site.name in names:
        site.create(site.group())
    pages = site.api.get_paginator("list_clusters").paginate(
        NameContains=names[0][:-1], SortBy="NAME", SortOrder="Descending", PaginationConfig={"PageSize": 2}
    )
    found = [[one["ClusterName"] for one in page["ClusterSummaries"]] for page in pages]
    assert found == [[names[2], names[0]], [names[1]]]


def test_events_tell_what_happened_to_nodes(site: Site) -> None:
    site.create(site.group(count=1))
    (id,) = site.ids()
    site.api.batch_reboot_cluster_nodes(ClusterName=site.name, NodeIds=[id])
    events = site.api.list_cluster_events(ClusterName=site.name, NodeId=id)["Events"]
    assert [event["Description"] for event in events] == ["Instance rebooted", "Instance launched"]
    detail = site.api.describe_cluster_event(ClusterName=site.name, EventId=events[0]["EventId"])
    assert detail["EventDetails"]["InstanceId"] == id


def test_there_are_events_with_continuous_provisioning_only(site: Site) -> None:
    site.api.create_cluster(ClusterName=site.name, InstanceGroups=[site.group()])
    with pytest.raises(ClientError, match="Events need NodeProvisioningMode Continuous"):
        site.api.list_cluster_events(ClusterName=site.name)


def test_tags_come_and_go(site: Site) -> None:
    arn = site.create(site.group(), Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
    site.api.add_tags(ResourceArn=arn, Tags=[{"Key": "a", "Value": "3"}])
    site.api.delete_tags(ResourceArn=arn, TagKeys=["b"])
    assert site.api.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "a", "Value": "3"}]


def test_what_is_not_about_clusters_is_answered_by_moto(site: Site) -> None:
    made = site.api.create_notebook_instance(
        NotebookInstanceName=site.name, InstanceType="ml.t3.medium", RoleArn=site.role
    )
    arn = made["NotebookInstanceArn"]
    site.api.add_tags(ResourceArn=arn, Tags=[{"Key": "a", "Value": "1"}])
    assert site.api.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "a", "Value": "1"}]


def test_a_deleted_cluster_is_gone_and_holds_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    arn = site.create(site.group())
    monkeypatch.setenv(CREATION_SECONDS, "0.3")
    site.api.delete_cluster(ClusterName=site.name)
    assert site.api.describe_cluster(ClusterName=site.name)["ClusterStatus"] == "Deleting"
    assert usage.holders(site.role) == [arn]
    time.sleep(0.35)
    with pytest.raises(site.api.exceptions.ResourceNotFound):
        site.api.describe_cluster(ClusterName=site.name)
    assert usage.holders(site.role) == []


def test_a_cluster_cannot_be_deleted_without_the_permissions_of_its_role(site: Site) -> None:
    site.create(site.group())
    name = site.role.rpartition("/")[2]
    site.session.client("iam").delete_role_policy(RoleName=name, PolicyName="all")
    with pytest.raises(site.api.exceptions.ConflictException, match="on AWS it would stay in Deleting"):
        site.api.delete_cluster(ClusterName=site.name)


def test_names_are_taken_once(site: Site) -> None:
    site.create(site.group())
    with pytest.raises(site.api.exceptions.ResourceInUse):
        site.create(site.group())
    with pytest.raises(ClientError, match="Instance group name workers is not unique"):
        Site(site.session).create(site.group(), site.group())


@pytest.mark.parametrize(
    ("operation", "asked"),
    [
        ("describe_cluster", {}),
        ("list_cluster_nodes", {}),
        ("delete_cluster", {}),
        ("update_cluster", {}),
        ("describe_cluster_node", {"NodeId": "i-0123456789abcdef0"}),
    ],
)
def test_there_is_no_other_cluster(site: Site, operation: str, asked: dict[str, str]) -> None:
    with pytest.raises(site.api.exceptions.ResourceNotFound):
        getattr(site.api, operation)(ClusterName="nobody", **asked)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"InstanceType": "ml.m5.huge"}, "'ml.m5.huge' is none of"),
        ({"OnStartDeepHealthChecks": ["Everything"]}, "'Everything' is none of"),
        ({"ThreadsPerCore": 3}, "at most 2"),
        ({"InstanceGroupName": "my_workers"}, "does not match"),
    ],
)
def test_values_that_the_service_does_not_know_are_refused(
    site: Site, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ClientError, match=message) as failure:
        site.create(site.group(**change))
    assert failure.value.response["Error"]["Code"] == "ValidationException"


def test_members_that_the_service_does_not_know_are_refused(site: Site, endpoint: str) -> None:
    with pytest.raises(ParamValidationError):
        site.create(site.group(Color="blue"))
    body = {"ClusterName": site.name, "InstanceGroups": [site.group(Color="blue")]}
    request = Request(
        endpoint,
        data=json.dumps(body).encode(),
        headers={
            "X-Amz-Target": "SageMaker.CreateCluster",
            "Content-Type": "application/x-amz-json-1.1",
            "Authorization": "AWS4-HMAC-SHA256 Credential=root/20261101/us-west-2/sagemaker/aws4_request",
        },
    )
    with pytest.raises(OSError, match="400") as failure:
        urlopen(request)
    assert b'Unknown parameter in InstanceGroups[0]: \\"Color\\"' in failure.value.read()  # type: ignore[attr-defined]


def test_operations_that_the_double_lacks_are_refused(site: Site) -> None:
    with pytest.raises(ClientError, match="sagemaker:AttachClusterNodeVolume is not in this double"):
        site.api.attach_cluster_node_volume(
            ClusterArn="arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefgh1234",
            NodeId="i-0123456789abcdef0",
            VolumeId="vol-0123456789abcdef0",
        )
