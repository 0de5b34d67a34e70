"""Deep health checks on demand, in the double."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError
from training_parts import Parts

from aws_double.progress import CREATION_SECONDS
from aws_double.session import Session


@pytest.fixture
def parts(root: Session, monkeypatch: pytest.MonkeyPatch) -> Parts:
    monkeypatch.setenv(CREATION_SECONDS, "0")
    made = Parts(root)
    group = {
        "InstanceGroupName": "workers",
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 2,
        "ExecutionRole": made.role(),
    }
    root.client("sagemaker").create_cluster(ClusterName=made.name, InstanceGroups=[group])
    return made


def started(parts: Parts, **asked: Any) -> None:
    configuration = {"InstanceGroupName": "workers", "DeepHealthChecks": ["InstanceStress"], **asked}
    parts.session.client("sagemaker").start_cluster_health_check(
        ClusterName=parts.name, DeepHealthCheckConfigurations=[configuration]
    )


def statuses(parts: Parts) -> dict[str, str]:
    told = parts.session.client("sagemaker").list_cluster_nodes(ClusterName=parts.name)
    return {node["InstanceId"]: node["InstanceStatus"]["Status"] for node in told["ClusterNodeSummaries"]}


def test_checked_nodes_are_away_and_come_back(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = statuses(parts)
    monkeypatch.setenv(CREATION_SECONDS, "60")
    started(parts, InstanceIds=[second])
    assert statuses(parts) == {first: "Running", second: "DeepHealthCheckInProgress"}
    with pytest.raises(ClientError, match="are in progress"):
        started(parts)


def test_without_ids_the_whole_group_is_checked(parts: Parts) -> None:
    started(parts)
    assert set(statuses(parts).values()) == {"Running"}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"InstanceGroupName": "others"}, "has no instance group others"),
        ({"InstanceIds": ["i-0123456789abcdef0"]}, "has no nodes i-0123456789abcdef0"),
    ],
)
def test_what_is_not_there_is_refused(parts: Parts, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ClientError, match=message):
        started(parts, **asked)


def test_a_node_that_restarts_is_refused(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    api = parts.session.client("sagemaker")
    first, _ = statuses(parts)
    api.batch_reboot_cluster_nodes(ClusterName=parts.name, NodeIds=[first])
    api.describe_cluster(ClusterName=parts.name)
    started(parts)  # it was there again at once
    monkeypatch.setenv(CREATION_SECONDS, "60")
    api.batch_reboot_cluster_nodes(ClusterName=parts.name, NodeIds=[first])
    with pytest.raises(ClientError, match="is Updating, not InService"):
        started(parts)
