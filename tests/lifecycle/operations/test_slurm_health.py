"""Health by what scontrol says; a script stands for it here, and tests/lifecycle/slurm asks a real one."""

from __future__ import annotations

import pytest
from aws_answers import cluster, instance_id, node

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.clusters import HyperPod
from hyperpod_lifecycle.operations.slurm_health import slurm_health

LINE = (
    "NodeName={name} Arch=x86_64 CPUTot=192 AvailableFeatures={features} ActiveFeatures={features} "
    "Gres=gpu:8 OS=Linux 6.1.0 #1 SMP RealMemory=1 State={state} ThreadsPerCore=1 Partitions=dev,workers "
    "BootTime=2026-11-30T03:00:00 {reason}"
)


@pytest.fixture
def scontrol(programs):
    def install(script):
        program = programs / "scontrol"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    return install


def lines(*rows):
    made = [LINE.format(**{"features": "(null)", "state": "IDLE", "reason": "", **row}) for row in rows]
    return "cat <<'end'\n" + "\n".join(made) + "\nend"


def seen(aws):
    hyperpod = HyperPod(Aws())
    found = hyperpod.cluster("llm-train")
    return slurm_health(found, hyperpod.nodes(found))


@pytest.mark.parametrize(
    ("row", "state", "faults", "checks", "repair"),
    [
        ({}, "IDLE", [], None, None),
        (
            {"state": "IDLE+DRAIN", "reason": "Reason=Xid=79 seen, ask ops [root@2026-11-30T03:04:05]"},
            "IDLE+DRAIN", ["Xid=79 seen, ask ops"], None, None,
        ),
        (
            {"state": "DOWN*", "reason": "Reason=Not responding [slurm@2026-11-30T03:04:05] Comment=a b"},
            "DOWN*", ["Not responding"], None, None,
        ),
        ({"state": "DOWN+FAIL", "reason": "Reason=Action:Replace [r@x]"}, "DOWN+FAIL", [], None, "replace"),
        ({"state": "ALLOCATED+FAIL", "reason": "Reason=Action:Reboot"}, "ALLOCATED+FAIL", [], None, "reboot"),
        # Left behind by a repair that is over.
        ({"state": "IDLE", "reason": "Reason=Action:Replace [root@x]"}, "IDLE", [], None, None),
        ({"features": "a,SageMakerDeepHealthCheck:InProgress"}, "IDLE", [], "InProgress", None),
    ],
)  # fmt: skip
def test_a_node(aws, scontrol, row, state, faults, checks, repair):
    scontrol(lines({"name": "ip-10-7-0-1", **row}, {"name": "ip-10-7-0-99"}))
    view = seen(aws)
    assert view.unreachable is None
    (health,) = view.nodes.values()
    assert set(view.nodes) == {instance_id("workers", 1)}
    assert (health.state, [fault.text for fault in health.faults]) == (state, faults)
    assert (health.deep_checks, health.under_repair) == (checks, repair)


WAY = (
    "run this on the cluster's controller: hyperpod-nodes connect llm-train controller-1 --region us-west-2 "
    "--start"
)


def test_there_is_no_scontrol(aws, programs):
    assert seen(aws).unreachable == f"scontrol is not on this machine; {WAY}"


def test_the_controller_does_not_answer(aws, scontrol):
    scontrol("echo 'slurm_load_node: Unable to contact slurm controller' >&2; exit 1")
    assert seen(aws).unreachable == (
        f"Slurm's controller does not answer (slurm_load_node: Unable to contact slurm controller); {WAY}"
    )


def test_the_controller_hangs(aws, scontrol, monkeypatch):
    monkeypatch.setattr("hyperpod_lifecycle.operations.slurm_health._SECONDS", 0.2)
    scontrol("exec sleep 30")
    assert "Slurm's controller does not answer (" in seen(aws).unreachable


def test_it_is_another_cluster(aws, scontrol):
    scontrol(lines({"name": "ip-10-9-9-9"}))
    assert seen(aws).unreachable.startswith("the Slurm of this machine has none of the nodes of llm-train; ")


def test_a_node_without_a_name_is_passed_over(aws, scontrol):
    nameless = node("workers", 1, status="Pending")
    del nameless["PrivateDnsHostname"]
    aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": [nameless, node("workers", 2)]}
    scontrol(lines({"name": "ip-10-7-0-2"}))
    assert set(seen(aws).nodes) == {instance_id("workers", 2)}


def test_where_no_group_is_known_to_be_the_controller(aws, programs):
    groups = [{**group, "SlurmConfig": {}} for group in cluster()["InstanceGroups"]]
    aws.answers["DescribeCluster"] = cluster(InstanceGroups=groups)
    assert "hyperpod-nodes connect llm-train <controller>" in seen(aws).unreachable
