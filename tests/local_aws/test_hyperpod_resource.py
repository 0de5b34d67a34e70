"""AWS::SageMaker::Cluster in the double: made, changed in place, replaced, deleted as by CloudFormation."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError
from local_resources import create, delete, resource, update
from told import assert_gone, assert_told
from training_parts import Parts, worker_group

from aws_double.progress import CREATION_SECONDS
from aws_double.resource import TYPES, Resource, ResourceFailure
from aws_double.session import InvalidRequestError, Session

KIND = "AWS::SageMaker::Cluster"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "0.05")


@pytest.fixture
def properties(root: Session) -> dict[str, Any]:
    parts = Parts(root)
    parts.route_to_s3()
    system = {
        "InstanceGroupName": "system",
        "InstanceType": "ml.m5.2xlarge",
        "InstanceCount": "1",
        "ExecutionRole": parts.role(),
        "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 100}}],
    }
    workers = worker_group(parts.role(), parts.scripts(), ThreadsPerCore=1, MinInstanceCount=1)
    return {
        "ClusterName": parts.name,
        "InstanceGroups": [workers, {**system, "InstanceCount": 1}],
        "NodeProvisioningMode": "Continuous",
        "NodeRecovery": "Automatic",
        "Orchestrator": {"Slurm": {}},
        "Tags": [{"Key": "spares", "Value": "1"}, {"Key": "team", "Value": "research"}],
        "VpcConfig": {"SecurityGroupIds": [parts.hosts()], "Subnets": [parts.subnet]},
    }


def ids(session: Session, made: Resource) -> list[str]:
    nodes = session.client("sagemaker").list_cluster_nodes(
        ClusterName=made.physical_id, InstanceGroupNameContains="workers"
    )
    return [node["InstanceId"] for node in nodes["ClusterNodeSummaries"]]


def workers(properties: dict[str, Any], **changes: Any) -> dict[str, Any]:
    first, *others = properties["InstanceGroups"]
    return {**properties, "InstanceGroups": [{**first, **changes}, *others]}


def test_it_is_in_service_when_it_is_made_and_told_as_it_was_asked_for(
    root: Session, properties: dict[str, Any]
) -> None:
    made = create(root, KIND, **properties)
    assert made.physical_id == made.attributes["ClusterArn"]
    assert made.attributes["ClusterStatus"] == "InService"
    assert_told(root, made)
    delete(root, made)
    assert_gone(root, made)
    delete(root, made)


def test_scaling_keeps_nodes_and_takes_the_newest_away(root: Session, properties: dict[str, Any]) -> None:
    made = create(root, KIND, **properties)
    two = ids(root, made)
    made = update(root, made, **workers(properties, InstanceCount=4))
    assert ids(root, made)[:2] == two
    made = update(root, made, **properties)
    assert ids(root, made) == two
    assert_told(root, made)


def test_groups_and_tags_come_and_go(root: Session, properties: dict[str, Any]) -> None:
    made = create(root, KIND, **properties)
    first, system = properties["InstanceGroups"]
    more = {**system, "InstanceGroupName": "more"}
    tags = [{"Key": "spares", "Value": "2"}]
    made = update(root, made, **{**properties, "InstanceGroups": [more, first], "Tags": tags})
    assert_told(root, made)


def test_numbers_may_be_text(root: Session, properties: dict[str, Any]) -> None:
    made = create(root, KIND, **workers(properties, InstanceCount="3"))
    assert len(ids(root, made)) == 3


def test_a_name_is_made_up(root: Session, properties: dict[str, Any]) -> None:
    del properties["ClusterName"]
    made = create(root, KIND, "Cluster", **properties)
    found = root.client("sagemaker").describe_cluster(ClusterName=made.physical_id)
    assert found["ClusterName"].startswith("team-Cluster-")


@pytest.mark.parametrize(
    ("change", "replaced"),
    [
        ({"ClusterName": "other"}, True),
        ({"VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]}}, True),
        ({"Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/x"}}}, True),
        ({"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Managed"}}}, False),
        ({"NodeRecovery": "None"}, False),
        ({"InstanceGroups": []}, False),
    ],
)
def test_what_is_create_only_replaces_it(
    properties: dict[str, Any], change: dict[str, Any], replaced: bool
) -> None:
    assert TYPES[KIND].replaces(properties, {**properties, **change}) is replaced


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Color": "blue"}, "does not apply: Color"),
        (
            {"VpcConfig": {"Color": "blue"}},
            r"not in CloudFormation: AWS::SageMaker::Cluster\.VpcConfig\.Color",
        ),
    ],
)
def test_properties_that_cloudformation_lacks_are_refused(
    properties: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ResourceFailure, match=message):
        TYPES[KIND].check(resource(KIND, **{**properties, **change}))


def test_values_that_only_the_api_takes_are_refused(properties: dict[str, Any]) -> None:
    checks = workers(properties, OnStartDeepHealthChecks=["MultiNodeTrainingValidation"])
    with pytest.raises(
        ResourceFailure, match="OnStartDeepHealthChecks of 'MultiNodeTrainingValidation', only"
    ):
        TYPES[KIND].check(resource(KIND, **checks))
    TYPES[KIND].check(resource(KIND, **workers(properties, OnStartDeepHealthChecks=["InstanceStress"])))


def test_an_illegal_instance_type_fails_and_leaves_nothing(root: Session, properties: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError, match=r"'ml\.p5\.huge' is none of"):
        create(root, KIND, **workers(properties, InstanceType="ml.p5.huge"))
    names = root.client("sagemaker").list_clusters(NameContains=properties["ClusterName"])
    assert names["ClusterSummaries"] == []


def test_a_change_that_hyperpod_refuses_fails_in_place(root: Session, properties: dict[str, Any]) -> None:
    made = create(root, KIND, **properties)
    with pytest.raises(ClientError, match="instance type of instance group workers cannot change"):
        update(root, made, **workers(properties, InstanceType="ml.p5en.48xlarge"))
    assert_told(root, made)
