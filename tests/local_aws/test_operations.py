"""`hyperpod-nodes` against the double: what it says becomes true of the cluster."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

import pytest
from training_parts import Parts

from aws_double.progress import CREATION_SECONDS
from aws_double.session import Session
from hyperpod_lifecycle.operations.command import main
from hyperpod_model.catalog.logs import health_monitoring_stream_name, lifecycle_stream_name, log_group_name

Told = Callable[..., dict[str, Any]]


class Site:
    """A Slurm cluster of a controller and three workers with GPUs, in a VPC."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.api = session.client("sagemaker")
        parts = Parts(session)
        parts.route_to_s3()
        self.name = parts.name
        role = parts.role()
        scripts = parts.scripts()

        def group(name: str, kind: str, count: int, node_type: str, **more: Any) -> dict[str, Any]:
            return {
                "InstanceGroupName": name, "InstanceType": kind, "InstanceCount": count,
                "ExecutionRole": role, "LifeCycleConfig": scripts,
                "SlurmConfig": {"NodeType": node_type, **more},
            }  # fmt: skip

        self.arn = self.api.create_cluster(
            ClusterName=self.name,
            InstanceGroups=[
                group("controller", "ml.m5.2xlarge", 1, "Controller"),
                group("workers", "ml.p5.48xlarge", 3, "Compute", PartitionNames=["train"]),
            ],
            Orchestrator={"Slurm": {}},
            NodeProvisioningMode="Continuous",
            NodeRecovery="Automatic",
            VpcConfig={"SecurityGroupIds": [parts.hosts()], "Subnets": [parts.subnet]},
        )["ClusterArn"]

    @property
    def nodes(self) -> dict[str, str]:
        """Status of each node, by id."""
        told = self.api.list_cluster_nodes(ClusterName=self.name)["ClusterNodeSummaries"]
        return {node["InstanceId"]: node["InstanceStatus"]["Status"] for node in told}


@pytest.fixture
def site(root: Session, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv(CREATION_SECONDS, "0")
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    settings = {
        **root.environment(),
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    # Slurm of this machine is not the cluster's.
    monkeypatch.setenv("PATH", "")
    return Site(root)


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """Runs the command, and returns what it said as JSON."""

    def run(*arguments: str, code: int = 0) -> dict[str, Any]:
        assert main([*arguments, "--format", "json"]) == code, capsys.readouterr()
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return run


def test_nodes_are_listed_with_the_names_of_their_hosts(site: Site, told: Told) -> None:
    nodes = told("list", site.name)["nodes"]
    assert [node["name"] for node in nodes] == ["controller-1", "workers-1", "workers-2", "workers-3"]
    assert {node["id"]: node["status"] for node in nodes} == site.nodes
    hosts = [node["host"] for node in nodes]
    assert all(host.endswith(".us-west-2.compute.internal") for host in hosts)
    assert len(set(hosts)) == 4
    by_host = told("connect", site.arn, hosts[2].partition(".")[0])
    assert by_host["id"] == nodes[2]["id"]
    assert by_host["target"] == f"sagemaker-cluster:{site.arn[-12:]}_workers-{nodes[2]['id']}"


def test_a_replaced_node_has_a_new_instance(site: Site, told: Told) -> None:
    before = told("list", site.name)["nodes"]
    outcome = told("replace", site.name, before[2]["id"], "--yes")["outcomes"]
    assert [one["taken"] for one in outcome] == [True]
    after = told("list", site.name)["nodes"]
    old = {node["id"] for node in before}
    new = {node["id"] for node in after}
    assert old - new == {before[2]["id"]}
    assert len(new - old) == 1
    assert {node["logical_id"] for node in before} == {node["logical_id"] for node in after}


def test_a_dry_run_leaves_all_as_it_is(site: Site, told: Told) -> None:
    before = site.nodes
    for command in (
        ("replace", site.name, "workers-1"),
        ("reboot", site.name, "workers-1"),
        ("check", site.name, "workers-1"),
        ("update-software", site.name, "--all-groups"),
    ):
        told(*command, "--dry-run")
    assert site.nodes == before
    assert site.api.describe_cluster(ClusterName=site.name)["ClusterStatus"] == "InService"


def test_nothing_is_done_twice(site: Site, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "60")
    told("reboot", site.name, "workers-1", "--yes")
    again = told("reboot", site.name, "workers-1", "--yes", code=1)
    assert any("is Updating, not InService" in refusal for refusal in again["refusals"])
    assert any("workers-1" in refusal and "is Pending" in refusal for refusal in again["refusals"])


def test_the_controller_stays(site: Site, told: Told) -> None:
    before = site.nodes
    (refusal,) = told("replace", site.name, "controller-1", "--yes", code=1)["refusals"]
    assert "is a Slurm controller" in refusal
    assert site.nodes == before
    assert told("reboot", site.name, "controller-1", "--yes")["outcomes"][0]["taken"]


def test_a_node_that_goes_away_meanwhile(site: Site, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = list(site.nodes)[3]

    def agreed(*_: object, **__: object) -> bool:
        site.api.batch_delete_cluster_nodes(ClusterName=site.name, NodeIds=[gone])
        return True

    monkeypatch.setattr("hyperpod_lifecycle.operations.command.repair.agreed", agreed)
    outcomes = told("replace", site.name, "workers-1", gone, code=1)["outcomes"]
    assert [one["taken"] for one in outcomes] == [True, False]
    assert outcomes[1]["why_not"].startswith("InstanceIdNotFound: ")


def test_checks_start_once(site: Site, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CREATION_SECONDS, "60")
    assert told("check", site.name, "--group", "workers", "--check", "InstanceConnectivity", "--yes")[
        "started"
    ]
    assert sorted(site.nodes.values()) == [*["DeepHealthCheckInProgress"] * 3, "Running"]
    (refusal,) = told("check", site.name, "workers-1", "--yes", code=1)["refusals"]
    assert refusal.startswith(
        "a cluster runs one check at a time, and workers-1, workers-2, workers-3 are being"
    )
    (refusal,) = told("reboot", site.name, "workers-1", "--yes", code=1)["refusals"]
    assert "is DeepHealthCheckInProgress" in refusal


def test_software_is_updated(site: Site, told: Told) -> None:
    told("update-software", site.name, "--group", "workers", "--yes")
    found = site.api.list_cluster_nodes(ClusterName=site.name)["ClusterNodeSummaries"]
    updated = {node["InstanceGroupName"] for node in found if "LastSoftwareUpdateTime" in node}
    assert updated == {"workers"}


def test_logs_of_a_node(site: Site, told: Told) -> None:
    node = told("list", site.name)["nodes"][1]
    assert told("logs", site.name, node["name"])["lines"] == []
    logs = site.session.client("logs")
    group = log_group_name(site.name, site.arn[-12:])
    now = int(time.time() * 1000)
    detection = {
        "details: ": {"reason": "XidHardwareFailure", "message": "NVRM: Xid (PCI:0000:b9:00): 79, pid=1"},
        "HealthMonitoringAgentDetectionEvent": "HealthEvent",
    }
    checks = f"Encountered FaultyInstance. Replace the Instance. {node['id']}"
    for stream, message in (
        (lifecycle_stream_name(node["group"], node["id"]), "scripts are done"),
        (health_monitoring_stream_name(node["group"], node["id"]), json.dumps(detection)),
        ("DeepHealthCheckResults/1", checks),
        ("DeepHealthCheckResults/2", "of i-0ffffffffffffffff"),
    ):
        logs.create_log_stream(logGroupName=group, logStreamName=stream)
        logs.put_log_events(
            logGroupName=group, logStreamName=stream, logEvents=[{"timestamp": now, "message": message}]
        )
    assert [line["text"] for line in told("logs", site.name, node["id"])["lines"]] == ["scripts are done"]
    assert len(told("logs", site.name, node["id"], "--of", "health")["lines"]) == 1
    found = told("logs", site.name, node["id"], "--of", "deep-checks")["lines"]
    assert [line["text"] for line in found] == [checks]
    (advised,) = told("advise", site.name, node["id"])["nodes"]
    assert advised["repair"] == "replace"
    assert {one["source"] for one in advised["evidence"]} == {"health agent", "deep health checks"}


def test_an_unknown_cluster_is_told_with_those_there_are(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "nobody"]) == 2
    assert main(["list", site.name, "--region", "eu-west-1"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "there is no cluster 'nobody' in us-west-2; there are " in first
    assert second.endswith("in eu-west-1; that region has none; say another --region or --profile")
