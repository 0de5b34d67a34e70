"""The command `hyperpod-nodes`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
import time

import pytest
from aws_answers import CLUSTER_ARN, cluster, error, group, instance_id, node
from recorded_job import Job
from terminals import Terminal

from hyperpod_lifecycle.operations.clusters import HyperPod
from hyperpod_lifecycle.operations.command import main
from hyperpod_lifecycle.operations.command.arguments import parsed
from hyperpod_lifecycle.operations.saves_under_way import wait_for
from hyperpod_lifecycle.training.checkpoint_store import Attempt
from hyperpod_lifecycle.training.directory_store import DirectoryStore

CONTROLLER, FIRST, SECOND = (
    instance_id("controller", 1),
    instance_id("workers", 1),
    instance_id("workers", 2),
)


@pytest.fixture
def types(monkeypatch):
    """Says what a user types."""

    def answer(*lines):
        monkeypatch.setattr("sys.stdin", Terminal("".join(f"{line}\n" for line in lines)))

    return answer


def data(said, *arguments, code=0):
    return json.loads(said(*arguments, "--format", "json", code=code).out)


def taken(request):
    return {"Successful": request["NodeIds"], "Failed": []}


class TestList:
    def test_text(self, aws, said):
        out = said("list", "llm-train").out
        first, unknown, *rest = out.splitlines()
        assert first == "llm-train (abcdefgh1234) in us-west-2, Slurm: InService; nodes: 3 Running"
        assert unknown.startswith(
            "Faults and deep checks are not known: Slurm: scontrol is not on this machine;"
        )
        rows = [line.split() for line in rest if line.startswith(("controller-", "workers-"))]
        assert [row[:5] for row in rows] == [
            ["controller-1", CONTROLLER, "ml.m5.2xlarge", "Running", "ip-10-10-0-1"],
            ["workers-1", FIRST, "ml.p5.48xlarge", "Running", "ip-10-7-0-1"],
            ["workers-2", SECOND, "ml.p5.48xlarge", "Running", "ip-10-7-0-2"],
        ]
        assert rows[0][5:] == ["2026-11-30", "03:00"]

    def test_json(self, aws, said):
        found = data(said, "list", "llm-train", "--group", "workers")
        assert found["cluster"]["arn"] == CLUSTER_ARN
        assert found["health"]["source"] == "Slurm"
        assert [one["id"] for one in found["nodes"]] == [FIRST, SECOND]
        assert found["nodes"][0] | {"message": ""} == {
            "name": "workers-1", "group": "workers", "number": 1, "id": FIRST, "logical_id": "node-workers1",
            "instance_type": "ml.p5.48xlarge", "status": "Running", "message": "",
            "launched": "2026-11-30T03:00:01+00:00", "host": "ip-10-7-0-1.us-west-2.compute.internal",
            "image_version": None, "image_status": None, "health": None,
        }  # fmt: skip

    def test_all_pages(self, aws, said):
        aws.answers["ListClusterNodes"] = [
            {"ClusterNodeSummaries": [node("workers", 2)], "NextToken": "more"},
            {"ClusterNodeSummaries": [node("workers", 1)]},
        ]
        assert [one["name"] for one in data(said, "list", "llm-train")["nodes"]] == ["workers-1", "workers-2"]
        assert [request.get("NextToken") for request in aws.requests("ListClusterNodes")] == [None, "more"]

    def test_names_that_the_list_leaves_out_are_asked_for(self, aws, said):
        listed = [node("workers", 1), node("workers", 2), node("workers", 3, status="Pending")]
        for one in listed:
            del one["PrivateDnsHostname"]
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": listed}
        aws.answers["DescribeClusterNode"] = lambda request: {
            "NodeDetails": {"PrivateDnsHostname": f"ip-10-0-0-{request['NodeId'][-1]}.x"}
        }
        hosts = [one["host"] for one in data(said, "list", "llm-train")["nodes"]]
        assert hosts == ["ip-10-0-0-1.x", "ip-10-0-0-2.x", None]

    def test_only_what_is_faulty(self, aws, said):
        failed = node("workers", 2, status="Failure")
        failed["InstanceStatus"]["Message"] = "EFA health checks did not run"
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": [node("workers", 1), failed]}
        out = said("list", "llm-train", "--faulty").out
        assert "Failure: EFA health checks did not run" in out
        assert FIRST not in out
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": [node("workers", 1)]}
        out = said("list", "llm-train", "--faulty").out
        assert "all of them are Running; whether they have faults is not known" in out

    def test_none_is_faulty_where_slurm_answers(self, aws, said, programs):
        program = programs / "scontrol"
        program.write_text("#!/bin/sh\necho 'NodeName=ip-10-7-0-1 State=IDLE'\n")
        program.chmod(0o755)
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": [node("workers", 1)]}
        assert "no such node has a fault" in said("list", "llm-train", "--faulty").out

    def test_a_group_without_nodes(self, aws, said):
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": [node("workers", 1)]}
        assert "no such node\n" in said("list", "llm-train", "--group", "controller").out

    def test_groups_that_lack_nodes(self, aws, said):
        aws.answers["DescribeCluster"] = cluster(InstanceGroups=[group("workers", 2, TargetCount=4)])
        assert "group workers: 2 of 4 nodes" in said("list", "llm-train").out

    def test_a_cluster_that_failed_says_why(self, aws, said):
        aws.answers["DescribeCluster"] = cluster(ClusterStatus="Failed", FailureMessage="no capacity")
        assert ": Failed (no capacity); nodes:" in said("list", "llm-train").out

    def test_clusters(self, aws, said):
        row = {"ClusterName": "llm-train", "ClusterArn": CLUSTER_ARN, "ClusterStatus": "InService"}
        aws.answers["ListClusters"] = {"ClusterSummaries": [{**row, "CreationTime": 0}]}
        words = said("list").out.split()
        assert words[-5:] == ["llm-train", "InService", "1970-01-01", "00:00", CLUSTER_ARN]
        assert data(said, "list")["clusters"][0]["arn"] == CLUSTER_ARN
        aws.answers["ListClusters"] = {"ClusterSummaries": []}
        assert "no clusters in us-west-2; are they in another --region" in said("list").out

    def test_restricted_groups_and_several_types(self, aws, said):
        other = group("flexible", 1)
        del other["InstanceType"]
        other["InstanceRequirements"] = {"CurrentInstanceTypes": ["ml.p5.48xlarge", "ml.p5e.48xlarge"]}
        aws.answers["DescribeCluster"] = cluster(
            InstanceGroups=[other], RestrictedInstanceGroups=[group("nova", 1)]
        )
        groups = data(said, "list", "llm-train")["cluster"]["groups"]
        assert [(one["name"], one["instance_type"]) for one in groups] == [
            ("flexible", "ml.p5.48xlarge, ml.p5e.48xlarge"),
            ("nova", "ml.p5.48xlarge"),
        ]

    def test_classic_clusters_are_not_asked_for_logical_ids(self, aws, said):
        told = cluster()
        del told["NodeProvisioningMode"]
        aws.answers["DescribeCluster"] = told
        said("list", "llm-train")
        assert aws.requests("ListClusterNodes") == [{"ClusterName": CLUSTER_ARN}]


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            SECOND, "workers-2", "ip-10-7-0-2", "ip-10-7-0-2.us-west-2.compute.internal",
            f"hyperpod-{SECOND}", "node-workers2",
        ],
    )  # fmt: skip
    def test_all_of_a_node(self, aws, said, name):
        assert data(said, "connect", "llm-train", name)["id"] == SECOND

    def test_each_node_once(self, aws, said):
        found = data(said, "reboot", "llm-train", "workers-2", SECOND, "--dry-run")
        assert [one["id"] for one in found["nodes"]] == [SECOND]

    def test_a_name_of_two_nodes(self, aws, said):
        groups = [group("a", 2), group("a-1", 1)]
        aws.answers["DescribeCluster"] = cluster(InstanceGroups=groups)
        same = {"PrivateDnsHostname": "ip-10-0-0-1.x"}
        nodes = [node("a", 1, **same), node("b", 1, **same)]
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": nodes}
        err = said("connect", "llm-train", "ip-10-0-0-1", code=2).err
        assert f"'ip-10-0-0-1' is {instance_id('a', 1)} and {instance_id('b', 1)}, say which" in err

    @pytest.mark.parametrize(
        ("name", "count", "shown"),
        [
            ("7", 2, "(7-1, 7-2)"),
            ("w", 300, "(w-1, w-2, w-3, w-4, w-5, ..., w-300)"),
        ],
    )
    def test_a_group_in_the_place_of_a_node(self, aws, said, name, count, shown):
        nodes = [node(name, number) for number in range(1, count + 1)]
        aws.answers["DescribeCluster"] = cluster(InstanceGroups=[group(name, count)])
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": nodes}
        err = said("reboot", "llm-train", name, "--yes", code=2).err
        assert f"there is no node '{name}', which is a group: name nodes of it {shown}" in err
        assert data(said, "connect", "llm-train", f"{name}-2")["id"] == instance_id(name, 2)

    def test_all_unknown_names_at_once(self, aws, said):
        err = said("reboot", "llm-train", "x", "y", "--yes", code=2).err
        assert "no node 'x'" in err
        assert "no node 'y'" in err


@pytest.mark.parametrize(
    ("action", "operation"),
    [("replace", "BatchReplaceClusterNodes"), ("reboot", "BatchRebootClusterNodes")],
)
class TestRepair:
    def test_a_dry_run_changes_nothing(self, aws, said, action, operation):
        out = said(action, "llm-train", "workers-1", "--dry-run").out
        assert out.startswith(
            f"{action} 1 of the nodes of llm-train in us-west-2:\n  workers-1: {FIRST}, ip-10-7"
        )
        assert "what a job loses is not known: say --recovery-records or --checkpoints" in out
        assert out.endswith("a dry run: nothing was done\n")
        assert aws.requests(operation) == []

    def test_it_asks(self, aws, said, types, action, operation):
        aws.answers[operation] = taken
        types("y")
        told = said(action, "llm-train", "workers-1")
        assert f"{action} workers-1 of llm-train? [y/N]" in told.err
        assert aws.requests(operation) == [{"ClusterName": CLUSTER_ARN, "NodeIds": [FIRST]}]
        word = "replaced" if action == "replace" else "rebooted"
        assert f"workers-1 ({FIRST}): is being {word}" in told.out

    @pytest.mark.parametrize("answer", ["", "n", "nein", "yesterday"])
    def test_it_takes_no_for_an_answer(self, aws, said, types, action, operation, answer):
        types(answer)
        assert "nothing was done" in said(action, "llm-train", "workers-1", code=1).err
        assert aws.requests(operation) == []

    def test_it_does_not_guess_where_nobody_answers(self, aws, said, monkeypatch, action, operation):
        monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
        err = said(action, "llm-train", "workers-1", code=2).err
        assert "nobody can be asked here: say --yes, or --dry-run" in err
        assert aws.requests(operation) == []

    @pytest.mark.parametrize("form", ["text", "json"])
    def test_an_interrupt_says_what_was_begun(self, aws, said, monkeypatch, action, operation, form):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("hyperpod_lifecycle.operations.clusters.HyperPod.repair", interrupted)
        err = said(action, "llm-train", FIRST, SECOND, "--yes", "--format", form, code=130).err
        assert f"taken on before the interrupt: none; perhaps taken on: {FIRST}, {SECOND}; not asked" in err

    def test_part_of_a_batch_fails(self, aws, said, action, operation):
        aws.answers[operation] = {
            "Successful": [FIRST],
            "Failed": [{"NodeId": SECOND, "ErrorCode": "InstanceIdInUse", "Message": "busy"}],
        }
        told = said(action, "llm-train", FIRST, SECOND, "--yes", code=1)
        assert (
            f"workers-2 ({SECOND}): NOT taken on: InstanceIdInUse: busy (something is being done" in told.out
        )
        assert "1 of 2 nodes were not taken on" in told.out

    def test_a_node_that_the_answer_leaves_out_is_not_done(self, aws, said, action, operation):
        aws.answers[operation] = {"Successful": [FIRST]}
        found = data(said, action, "llm-train", FIRST, SECOND, "--yes", code=1)
        assert [one["taken"] for one in found["outcomes"]] == [True, False]
        assert "the answer does not name the node" in found["outcomes"][1]["why_not"]

    def test_aws_refuses_all(self, aws, said, action, operation):
        aws.answers[operation] = error("AccessDeniedException")
        out = said(action, "llm-train", FIRST, "--yes", code=1).out
        assert f"NOT taken on: the AWS credentials do not permit sagemaker:{operation}" in out

    def test_what_was_begun_is_told_before_an_interrupt(self, aws, said, monkeypatch, action, operation):
        nodes = [node("workers", number) for number in range(1, 31)]
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": nodes}
        aws.answers[operation] = taken
        asked = HyperPod.repair

        def once(hyperpod, cluster, ids, *, action):
            if len(ids) < 25:
                raise KeyboardInterrupt
            return asked(hyperpod, cluster, ids, action=action)

        monkeypatch.setattr(HyperPod, "repair", once)
        names = [one["InstanceId"] for one in nodes]
        told = said(action, "llm-train", *names, "--yes", code=130)
        assert told.out.count("): is being re") == 25

    def test_json_stays_json_while_it_asks(self, aws, said, types, action, operation):
        aws.answers[operation] = taken
        types("yes")
        found = data(said, action, "llm-train", "workers-1")
        assert found["outcomes"] == [{"name": "workers-1", "id": FIRST, "taken": True, "why_not": None}]
        assert (found["dry_run"], found["refusals"], found["at_stake"]) == (False, [], None)

    def test_it_refuses_while_the_cluster_changes(self, aws, said, action, operation):
        aws.answers["DescribeCluster"] = cluster(ClusterStatus="Updating")
        for more in ([], ["--yes"], ["--dry-run"]):
            out = said(action, "llm-train", "workers-1", *more, code=1).out
            assert "refused: cluster llm-train is Updating, not InService" in out
            assert "lifecycle scripts" not in out
        assert aws.requests(operation) == []

    def test_what_a_job_loses(self, aws, said, tmp_path, action, operation):
        job = Job(tmp_path, begins=time.time() - 600)
        job.train(0, 100, saves={49: ["s3"]})
        arguments = (action, "llm-train", "workers-1", "--dry-run", "--recovery-records", str(tmp_path))
        assert "50 steps would be lost, about 5 min of training" in said(*arguments).out
        stake = data(said, *arguments)["at_stake"]
        assert (stake["steps"], stake["saved_step"], stake["running"]) == (50, 49, True)
        assert stake["seconds"] == pytest.approx(300)

    def test_many_nodes_are_many_requests(self, aws, said, action, operation):
        nodes = [node("workers", number) for number in range(1, 41)]
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": nodes}
        aws.answers[operation] = taken
        names = [one["InstanceId"] for one in nodes]
        assert "in 2 requests of at most 25 nodes" in said(action, "llm-train", *names, "--yes").out
        assert [len(request["NodeIds"]) for request in aws.requests(operation)] == [25, 15]


class TestSaveUnderWay:
    @pytest.fixture
    def store(self, aws, tmp_path, monkeypatch):
        monkeypatch.setattr("hyperpod_lifecycle.operations.command.repair._POLL_SECONDS", 0.05)
        aws.answers["BatchRebootClusterNodes"] = taken
        store = DirectoryStore(tmp_path)
        store.begin(Attempt(120, "a" * 32))
        return store

    @pytest.fixture
    def once_waiting(self, monkeypatch):
        """Does something right after the first look of a wait."""

        def after(change):
            def waits(saves, *, look, **options):
                def looks():
                    seen = look()
                    change()
                    return seen

                return wait_for(saves, look=looks, **options)

            monkeypatch.setattr("hyperpod_lifecycle.operations.command.repair.wait_for", waits)

        return after

    def test_it_is_said(self, aws, said, store, tmp_path):
        out = said("replace", "llm-train", FIRST, "--dry-run", "--checkpoints", str(tmp_path)).out
        assert "a save of step 120 is under way since " in out
        assert "--wait-for-save MINUTES waits for it first" in out
        found = data(said, "replace", "llm-train", FIRST, "--dry-run", "--checkpoints", str(tmp_path))
        assert [one["step"] for one in found["at_stake"]["saves"]["under_way"]] == [120]

    def test_without_checkpoints_it_is_not_known(self, aws, said, tmp_path):
        out = said("reboot", "llm-train", FIRST, "--dry-run", "--recovery-records", str(tmp_path)).out
        assert "whether a save is under way is not known: say --checkpoints" in out

    def test_it_is_waited_for(self, aws, said, store, tmp_path, once_waiting):
        once_waiting(lambda: store.discard(Attempt(120, "a" * 32), 0))
        place = ("--checkpoints", str(tmp_path), "--wait-for-save", "5", "--yes")
        told = said("reboot", "llm-train", FIRST, *place)
        assert "a save that is under way is waited for, up to 5 min" in told.out
        assert "waiting up to 5 min for the save of step 120" in told.err
        assert "the save of step 120 has ended" in told.err
        assert "is being rebooted" in told.out

    def test_it_lasts_too_long(self, aws, said, store, tmp_path):
        place = ("--checkpoints", str(tmp_path), "--wait-for-save", "0.005", "--yes")
        out = said("reboot", "llm-train", FIRST, *place, code=1).out
        assert "refused: the save of step 120 is still under way after 0 s: nothing was done" in out
        assert aws.requests("BatchRebootClusterNodes") == []

    def test_a_dry_run_waits_for_nothing(self, aws, said, store, tmp_path):
        place = ("--checkpoints", str(tmp_path), "--wait-for-save", "1440", "--dry-run")
        assert "is waited for, up to 24.0 h" in said("reboot", "llm-train", FIRST, *place).out

    def test_nothing_is_under_way(self, aws, said, tmp_path):
        aws.answers["BatchRebootClusterNodes"] = taken
        place = ("--checkpoints", str(tmp_path), "--wait-for-save", "5", "--yes")
        told = said("reboot", "llm-train", FIRST, *place)
        assert "no save is under way" in told.out
        assert "waiting" not in told.err

    def test_what_changed_meanwhile_is_seen(self, aws, said, store, tmp_path, once_waiting):
        def changed():
            aws.answers["DescribeCluster"] = cluster(ClusterStatus="Updating")
            store.discard(Attempt(120, "a" * 32), 0)

        once_waiting(changed)
        place = ("--checkpoints", str(tmp_path), "--wait-for-save", "5", "--yes")
        out = said("reboot", "llm-train", FIRST, *place, code=1).out
        assert "refused: cluster llm-train is Updating" in out
        assert aws.requests("BatchRebootClusterNodes") == []

    def test_an_interrupt_of_the_wait(self, aws, said, store, tmp_path, monkeypatch):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("hyperpod_lifecycle.operations.command.repair.wait_for", interrupted)
        place = ("--checkpoints", str(tmp_path), "--wait-for-save", "5", "--yes")
        err = said("reboot", "llm-train", FIRST, *place, code=130).err
        assert "interrupted while it waited for the save: nothing was done" in err

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            (
                ["--wait-for-save", "5"],
                "--wait-for-save looks for saves in the checkpoints: say --checkpoints",
            ),
            (["--wait-for-save", "1441", "--checkpoints", "x"], "must be 1440 or less, got '1441'"),
            (["--wait-for-save", "0", "--checkpoints", "x"], "must be more than 0, got '0'"),
            (
                ["--wait-for-save", "5", "--checkpoints", "/nowhere/at/all"],
                "a save cannot be seen: /nowhere/at/all cannot be looked at: there is no such folder",
            ),
        ],
    )
    def test_refusals(self, aws, said, more, message):
        assert message in said("reboot", "llm-train", FIRST, *more, "--yes", code=2).err
        assert aws.requests("BatchRebootClusterNodes") == []

    def test_a_file_system_that_hangs_keeps_nobody_from_repairs(self, aws, said, tmp_path, monkeypatch):
        hanging = threading.Event()
        module = "hyperpod_lifecycle.operations.command.repair"
        monkeypatch.setattr(f"{module}._ANSWER_SECONDS", 0.05)
        monkeypatch.setattr(f"{module}.at_stake", lambda *_, **__: hanging.wait())
        out = said("reboot", "llm-train", FIRST, "--dry-run", "--checkpoints", str(tmp_path)).out
        hanging.set()
        assert f"what a job would lose is not known: {tmp_path} does not answer within 0.05 s" in out


def test_a_replacement_that_nobody_reads_takes_no_numbers(aws, said):
    err = said("replace", "llm-train", "workers-1", SECOND, "--yes", code=2).err
    assert "numbers shift when a node is replaced; got 'workers-1', now " + FIRST in err
    assert aws.requests("BatchReplaceClusterNodes") == []


def test_numbers_do_where_nothing_shifts_or_somebody_reads(aws, said):
    aws.answers["BatchRebootClusterNodes"] = taken
    said("reboot", "llm-train", "workers-1", "--yes")
    said("replace", "llm-train", "workers-1", "--yes", "--dry-run")


def test_hyperpod_s_own_repair_is_seen_in_slurm(aws, said, programs):
    program = programs / "scontrol"
    line = "NodeName=ip-10-7-0-1 State=IDLE+FAIL Reason=Action:Replace [root@2026-11-30T03:04:05]"
    program.write_text(f"#!/bin/sh\necho '{line}'\n")
    program.chmod(0o755)
    out = said("reboot", "llm-train", "workers-1", "--yes", code=1).out
    assert f"refused: workers-1 ({FIRST}) is IDLE+FAIL: HyperPod's own replacement is in progress" in out
    out = said("list", "llm-train").out
    assert "not known" not in out
    assert "IDLE+FAIL" in out
    assert FIRST in said("list", "llm-train", "--faulty").out


class TestConnect:
    TARGET = f"sagemaker-cluster:abcdefgh1234_workers-{FIRST}"

    def test_it_prints_the_command(self, aws, said):
        assert said("connect", "llm-train", "workers-1").out == (
            f"aws ssm start-session --target {self.TARGET} --region us-west-2\n"
        )

    def test_json(self, aws, said):
        assert data(said, "connect", "llm-train", "workers-1")["target"] == self.TARGET

    def test_a_command(self, aws, said):
        command = data(said, "connect", "llm-train", "workers-1", "--run", "nvidia-smi -q")["command"]
        assert command[-4:] == [
            "--document-name", "AWS-StartInteractiveCommand", "--parameters",
            '{"command": ["nvidia-smi -q"]}',
        ]  # fmt: skip

    def test_it_needs_two_programs(self, aws, said, programs):
        err = said("connect", "llm-train", "workers-1", "--start", code=2).err
        assert "a session needs the AWS CLI version 2 and the Session Manager plugin of the AWS CLI" in err
        (programs / "aws").write_text("#!/bin/sh\n")
        (programs / "aws").chmod(0o755)
        err = said("connect", "llm-train", "workers-1", "--start", code=2).err
        assert "a session needs the Session Manager plugin of the AWS CLI" in err

    def test_it_becomes_the_session(self, aws, programs, tmp_path):
        for name in ("aws", "session-manager-plugin"):
            (programs / name).write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\n')
            (programs / name).chmod(0o755)
        command = [sys.executable, "-m", "hyperpod_lifecycle.operations.command"]
        subprocess.run([*command, "connect", "llm-train", "workers-1", "--start"], check=True)
        assert (tmp_path / "asked").read_text() == (
            f"ssm start-session --target {self.TARGET} --region us-west-2\n"
        )


class TestAdvise:
    def event(self, message, reason="XidHardwareFailure", key="details: "):
        line = {
            key: {"reason": reason, "message": message},
            "HealthMonitoringAgentDetectionEvent": "HealthEvent",
        }
        return {
            "timestamp": 1_800_000_000_000, "logStreamName": "s", "eventId": "1", "message": json.dumps(line),
        }  # fmt: skip

    def test_faults_from_the_health_agent_s_log(self, aws, said):
        message = 'Node condition NvidiaErrorTerminate is now: True, message: "NVRM: Xid (PCI:0): 79, pid=1"'
        aws.answers["FilterLogEvents"] = lambda request: {
            "events": [self.event(message)]
            if request.get("logStreamNames") == [f"SagemakerHealthMonitoringAgent/workers/{FIRST}"]
            else []
        }
        out = said("advise", "llm-train", "workers-1", "workers-2").out
        assert f"workers-1 ({FIRST}), Running: replace the node" in out
        assert "Xid 79: GPU has fallen off the bus" in out
        assert f"  hyperpod-nodes replace llm-train {FIRST} --region us-west-2" in out
        assert (
            f"workers-2 ({SECOND}), Running: its logs tell of no fault, but Slurm could not be asked" in out
        )
        assert "nothing to do" not in out
        assert "HyperPod repairs nodes of this cluster by itself" in out
        request = aws.requests("FilterLogEvents")[0]
        assert request["logGroupName"] == "/aws/sagemaker/Clusters/llm-train/abcdefgh1234"
        assert request["startTime"] == 1_796_007_601_000

    def test_deep_checks(self, aws, said):
        def told(request):
            if request.get("logStreamNamePrefix") != "DeepHealthCheckResults/":
                return {"events": []}
            assert request["filterPattern"] == f'"{FIRST}"'
            line = f"Encountered FaultyInstance. Replace the Instance. {FIRST}"
            return {"events": [{"timestamp": 1, "logStreamName": "s", "eventId": "1", "message": line}]}

        aws.answers["FilterLogEvents"] = told
        found = data(said, "advise", "llm-train", "workers-1")
        assert found["nodes"][0]["repair"] == "replace"

    @pytest.mark.parametrize("line", ["no JSON", "[1]", '{"level": "info"}'])
    def test_other_lines_of_the_agent_are_no_faults(self, aws, said, line):
        aws.answers["FilterLogEvents"] = {
            "events": [{"timestamp": 1, "logStreamName": "s", "eventId": "1", "message": line}]
        }
        assert data(said, "advise", "llm-train", "workers-1")["nodes"][0]["repair"] is None

    @pytest.mark.parametrize("event", [
        {"details": {"reason": "XidHardwareFailure", "message": ""}}, {"details: ": "XidHardwareFailure"},
    ])  # fmt: skip
    def test_a_detection_in_another_form(self, aws, said, event):
        line = json.dumps({**event, "HealthMonitoringAgentDetectionEvent": "HealthEvent"})
        aws.answers["FilterLogEvents"] = {
            "events": [{"timestamp": 1, "logStreamName": "s", "eventId": "1", "message": line}]
        }
        assert data(said, "advise", "llm-train", "workers-1")["nodes"][0]["repair"] == "replace"

    def test_no_fault_where_all_were_asked(self, aws, said, programs):
        program = programs / "scontrol"
        program.write_text("#!/bin/sh\necho 'NodeName=ip-10-7-0-1 State=IDLE'\n")
        program.chmod(0o755)
        out = said("advise", "llm-train", "workers-1").out
        assert f"workers-1 ({FIRST}), Running: no fault is known of it: nothing to do" in out
        (found,) = data(said, "advise", "llm-train", "workers-1")["nodes"]
        assert found["all_asked"]

    def detection(self, stream, text=None):
        found = self.event("NVRM: Xid (PCI:0): 79, pid=1")
        return {**found, "logStreamName": stream, **({} if text is None else {"message": text})}

    def test_without_names_also_what_only_the_agents_log_tells(self, aws, said):
        """The alarm on the logs does not name the node, and the API says Running."""
        streams = [f"SagemakerHealthMonitoringAgent/workers/{id}" for id in (FIRST, "i-0ffffffffffffffff")]

        def told(request):
            if "logStreamNamePrefix" not in request:
                found = [self.detection(one) for one in streams if one in request["logStreamNames"]]
            elif request["logStreamNamePrefix"] == "SagemakerHealthMonitoringAgent/":
                assert request["filterPattern"] == '{ $.HealthMonitoringAgentDetectionEvent = "HealthEvent" }'
                assert 86_000 < time.time() - request["startTime"] / 1000 < 87_000
                found = [self.detection(one) for one in streams]
            else:
                found = []
            return {"events": found}

        aws.answers["FilterLogEvents"] = told
        out = said("advise", "llm-train").out
        assert f"workers-1 ({FIRST}), Running: replace the node" in out
        assert f"  hyperpod-nodes replace llm-train {FIRST} --region us-west-2" in out
        assert SECOND not in out
        assert "i-0ffffffffffffffff" not in out

    def test_without_names_also_what_deep_checks_found(self, aws, said):
        line = f"Encountered FaultyInstance. Replace the Instance. {SECOND}"

        def told(request):
            deep = request.get("logStreamNamePrefix") == "DeepHealthCheckResults/"
            mine = SECOND in request.get("filterPattern", "") or "Encountered" in request.get(
                "filterPattern", ""
            )
            return {"events": [self.detection("DeepHealthCheckResults/1", line)] if deep and mine else []}

        aws.answers["FilterLogEvents"] = told
        found = data(said, "advise", "llm-train")["nodes"]
        assert [(one["id"], one["repair"]) for one in found] == [(SECOND, "replace")]

    def test_without_names_and_without_logs(self, aws, said):
        aws.answers["FilterLogEvents"] = error("ResourceNotFoundException")
        out = said("advise", "llm-train").out
        assert "no node of llm-train has a fault that can be seen from here" in out
        assert "the logs of the nodes are not known" not in out
        aws.answers["FilterLogEvents"] = error("AccessDeniedException")
        assert (
            "the logs of the nodes are not known: the AWS credentials do not permit logs:Fil"
            in said("advise", "llm-train").out
        )

    def test_without_names_what_is_faulty(self, aws, said):
        assert (
            "no node of llm-train has a fault that can be seen from here" in said("advise", "llm-train").out
        )
        failed = node("workers", 2, status="Failure")
        failed["InstanceStatus"]["Message"] = "lifecycle scripts did not run"
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": [node("workers", 1), failed]}
        out = said("advise", "llm-train").out
        assert "Failure: lifecycle scripts did not run" in out
        assert FIRST not in out

    HAPPENED = [
        {"EventTime": 1_796_011_200 - 60 * number, "EventLevel": "Warn", "Description": text, **members}
        for number, (text, members) in enumerate(
            [
                ("of another node", {"InstanceId": FIRST}),
                ("Insufficient capacity\nin use1-az4", {}),
                ("scripts run", {"InstanceId": SECOND}),
                ("launched", {"InstanceId": SECOND}),
                ("too old to be shown", {"InstanceId": SECOND}),
            ]
        )
    ]

    def on_its_way(self, aws, status="Pending"):
        nodes = [node("workers", 1), node("workers", 2, status=status)]
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": nodes}
        aws.answers["ListClusterEvents"] = {"Events": self.HAPPENED}

    def test_a_node_that_is_pending(self, aws, said):
        self.on_its_way(aws)
        line = {"timestamp": 1_796_007_700_000, "logStreamName": "s", "eventId": "1", "message": "mount"}
        aws.answers["FilterLogEvents"] = lambda request: {
            "events": [line] if request.get("logStreamNames") == [f"LifecycleConfig/workers/{SECOND}"] else []
        }
        out = said("advise", "llm-train").out
        assert f"workers-2 ({SECOND}), Pending: HyperPod brings it up, new or after a reboot: it takes" in out
        assert "no fault" not in out
        assert "  since its launch " in out
        assert " ago: mount" in out
        assert "  event: 2026-11-30 03:59 UTC Warn Insufficient capacity in use1-az4" in out
        assert out.count("event: ") == 3
        assert "of another node" not in out
        assert f"look at: hyperpod-nodes logs llm-train {SECOND} --region us-west-2" in out
        listing = "aws sagemaker list-cluster-events --cluster-name llm-train --instance-group-name workers"
        assert f"look at: {listing}" in out
        (found,) = data(said, "advise", "llm-train")["nodes"]
        assert found["transition"]["scripts_said"] == "mount"

    def test_a_node_that_runs_goes_through_nothing(self, aws, said):
        found = data(said, "advise", "llm-train", "workers-1")["nodes"]
        assert [one["transition"] for one in found] == [None]
        assert aws.requests("ListClusterEvents") == []

    @pytest.mark.parametrize(
        ("status", "words"),
        [
            ("ShuttingDown", "HyperPod takes it away"),
            ("SystemUpdating", "HyperPod images it anew"),
            ("DeepHealthCheckInProgress", "it is being checked, which takes about 2 hours"),
            ("AttachInProgress", "HyperPod changes it"),
        ],
    )
    def test_other_states_of_a_node(self, aws, said, status, words):
        self.on_its_way(aws, status)
        out = said("advise", "llm-train", "workers-2").out
        assert f"{status}: {words}" in out
        assert "its lifecycle scripts wrote nothing" in out

    def test_a_pending_node_with_a_fault_is_not_replaced_now(self, aws, said, programs):
        self.on_its_way(aws)
        program = programs / "scontrol"
        line = "NodeName=ip-10-7-0-2 State=DOWN Reason=Xid 79 [root@2026-11-30]"
        program.write_text(f"#!/bin/sh\necho '{line}'\n")
        program.chmod(0o755)
        out = said("advise", "llm-train", "workers-2").out
        assert "it takes no jobs before its lifecycle scripts have ended; replace the node" in out
        assert "hyperpod-nodes replace" not in out

    def test_events_that_there_are_none_of(self, aws, said):
        self.on_its_way(aws)
        told = cluster()
        del told["NodeProvisioningMode"]
        aws.answers["DescribeCluster"] = told
        out = said("advise", "llm-train", "workers-2").out
        assert "the API keeps no events of this cluster" in out
        assert aws.requests("ListClusterEvents") == []

    def test_events_that_may_not_be_read(self, aws, said):
        self.on_its_way(aws)
        aws.answers["ListClusterEvents"] = error("AccessDeniedException")
        out = said("advise", "llm-train", "workers-2").out
        assert "the events of group workers are not known: the AWS credentials do not permit" in out

    def test_nodes_that_are_not_there(self, aws, said):
        aws.answers["DescribeCluster"] = cluster(InstanceGroups=[group("workers", 2, TargetCount=4)])
        aws.answers["ListClusterEvents"] = {"Events": self.HAPPENED}
        out = said("advise", "llm-train").out
        assert "group workers has 2 of 4 nodes; the others are not there" in out
        assert "Warn Insufficient capacity" in out

    def test_logs_that_may_not_be_read(self, aws, said):
        aws.answers["FilterLogEvents"] = error("AccessDeniedException")
        out = said("advise", "llm-train", "workers-1").out
        assert (
            "the logs of workers-1 are not known: the AWS credentials do not permit logs:FilterLogEvents"
            in out
        )
        assert "Running: no fault is known, but not all could be asked: nothing can be advised" in out
        assert "nothing to do" not in out
        (found,) = data(said, "advise", "llm-train", "workers-1")["nodes"]
        assert not found["all_asked"]

    def test_a_fault_from_a_log_asks_nobody(self, said):
        assert said("advise", "--xid", "79").out.startswith(
            "replace the node\n  you: Xid 79\n    Xid 79: GPU has"
        )
        assert data(said, "advise", "--fault", "NVRM: Xid (PCI:0): 119")["repair"] == "reboot"
        assert data(said, "advise", "--xid", "119", "--rebooted")["repair"] == "replace"
        assert "Xid 9999: it is not in NVIDIA's catalog of" in said("advise", "--xid", "9999").out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "name a cluster, or a fault with --xid or --fault"),
            (["llm-train", "--xid", "79"], "--xid and --fault ask nobody: leave the cluster"),
            (["--xid", "ecc"], "must be a whole number, got 'ecc'"),
        ],
    )
    def test_refusals(self, said, arguments, message):
        assert message in said("advise", *arguments, code=2).err


class TestLogs:
    EVENTS = [
        {"timestamp": 1_796_007_700_000 + 1000 * number, "logStreamName": "s", "eventId": str(number),
         "message": f"line {number}\n"}
        for number in range(4)
    ]  # fmt: skip

    def test_text(self, aws, said):
        aws.answers["FilterLogEvents"] = {"events": self.EVENTS}
        out = said("logs", "llm-train", "workers-1", "--lines", "2").out
        assert out == "2026-11-30T03:01:42Z line 2\n2026-11-30T03:01:43Z line 3\n"
        assert aws.requests("FilterLogEvents") == [
            {
                "logGroupName": "/aws/sagemaker/Clusters/llm-train/abcdefgh1234",
                "logStreamNames": [f"LifecycleConfig/workers/{FIRST}"],
                "startTime": 1_796_007_601_000,
            }
        ]

    def test_json(self, aws, said):
        aws.answers["FilterLogEvents"] = {"events": self.EVENTS}
        found = data(said, "logs", "llm-train", "workers-1", "--of", "health")
        assert found["log_stream"] == f"SagemakerHealthMonitoringAgent/workers/{FIRST}"
        assert [line["text"] for line in found["lines"]] == [f"line {number}" for number in range(4)]

    def test_since(self, aws, said):
        aws.answers["FilterLogEvents"] = {"events": []}
        said("logs", "llm-train", "workers-1", "--since", "90m")
        asked = aws.requests("FilterLogEvents")[0]["startTime"]
        assert 5390 < time.time() - asked / 1000 < 5600

    @pytest.mark.parametrize(
        ("of", "words"),
        [
            ("lifecycle", "a failed EFA check ends a node before its scripts"),
            ("health", "the health agent has detected nothing"),
            ("deep-checks", "no deep health check named it"),
        ],
    )
    @pytest.mark.parametrize("exists", [True, False])
    def test_nothing_says_what_that_means(self, aws, said, of, words, exists):
        aws.answers["FilterLogEvents"] = {"events": []} if exists else error("ResourceNotFoundException")
        told = said("logs", "llm-train", "workers-1", "--of", of)
        assert told.out == ""
        assert words in told.err

    GONE = "i-0ffffffffffffffff"

    def gone(self, aws, stream=f"LifecycleConfig/workers/{GONE}"):
        aws.answers["FilterLogEvents"] = lambda request: (
            {"events": self.EVENTS}
            if request.get("logStreamNames") == [stream]
            else error("ResourceNotFoundException")
        )

    def test_a_node_that_is_gone(self, aws, said):
        """A node whose scripts failed is replaced before anybody reads the mail."""
        self.gone(aws)
        told = said("logs", "llm-train", self.GONE, "--lines", "1")
        assert told.out == "2026-11-30T03:01:43Z line 3\n"
        assert f"{self.GONE} is not in llm-train any more; it logged this" in told.err

    def test_a_node_that_never_was(self, aws, said):
        self.gone(aws, stream="LifecycleConfig/workers/i-0123456789abcdef0")
        told = said("logs", "llm-train", self.GONE, code=2).err
        assert f"there is no node '{self.GONE}' in cluster llm-train in us-west-2" in told
        assert "none of its groups (controller, workers) has such a log of it" in told

    def test_a_node_that_is_gone_cannot_be_followed(self, aws, said):
        self.gone(aws)
        told = said("logs", "llm-train", self.GONE, "--follow", code=2).err
        assert "is gone and logs nothing more: leave --follow out" in told

    def test_a_name_that_is_no_instance_is_not_looked_for_in_logs(self, aws, said):
        assert "there is no node 'worker', did" not in said("logs", "llm-train", "workers", code=2).err
        assert aws.requests("FilterLogEvents") == []

    def test_it_follows(self, aws, said, monkeypatch):
        monkeypatch.setattr("hyperpod_lifecycle.operations.command.logs._POLL_SECONDS", 0)
        aws.answers["FilterLogEvents"] = [
            {"events": self.EVENTS[:2]},
            {"events": self.EVENTS[1:3]},
            error("ExpiredTokenException"),
        ]
        told = said("logs", "llm-train", "workers-1", "--follow", code=2)
        assert [line.split()[-1] for line in told.out.splitlines()] == ["0", "1", "2"]
        assert "have expired" in told.err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--follow", "--format", "json"], "--follow has no end, and JSON needs one"),
            (["--since", "yesterday"], "must be a number with s, m, h or d, such as 90m"),
            (["--since", "99999999999d"], "is too long ago"),
            (["--lines", "0"], "must be a whole number from 1"),
        ],
    )
    def test_refusals(self, aws, said, arguments, message):
        assert message in said("logs", "llm-train", "workers-1", *arguments, code=2).err


class TestCheck:
    def test_nodes_of_two_groups(self, aws, said):
        groups = [group("a", 2), group("b", 1)]
        aws.answers["DescribeCluster"] = cluster(InstanceGroups=groups)
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": [node("a", 1), node("a", 2), node("b", 1)]}
        aws.answers["StartClusterHealthCheck"] = {"ClusterArn": CLUSTER_ARN}
        out = said("check", "llm-train", "a-1", "--group", "b", "--yes").out
        assert "about 2 hours" in out
        assert "nodes that fail are rebooted or replaced by HyperPod" in out
        assert "started; follow them with: hyperpod-nodes watch llm-train" in out
        assert aws.requests("StartClusterHealthCheck") == [
            {
                "ClusterName": CLUSTER_ARN,
                "DeepHealthCheckConfigurations": [
                    {"InstanceGroupName": name, "InstanceIds": [instance_id(name, 1)],
                     "DeepHealthChecks": ["InstanceStress"]}
                    for name in ("a", "b")
                ],
            }
        ]  # fmt: skip

    def test_a_dry_run_changes_nothing(self, aws, said):
        found = data(said, "check", "llm-train", "workers-1", "--dry-run")
        assert (found["started"], found["dry_run"]) == (False, True)
        assert aws.requests("StartClusterHealthCheck") == []

    def test_it_takes_no_for_an_answer(self, aws, said, types):
        types("no")
        assert "nothing was done" in said("check", "llm-train", "workers-1", code=1).err

    def test_nodes_that_nobody_repairs(self, aws, said):
        aws.answers["DescribeCluster"] = cluster(NodeRecovery="None")
        assert "so that you must repair them" in said("check", "llm-train", "workers-1", "--dry-run").out

    @pytest.mark.parametrize(
        ("arguments", "refusal"),
        [
            (["controller-1"], "group controller: needs an accelerated instance type, got 'ml.m5.2xlarge'"),
            (["workers-1", "--check", "InstanceConnectivity"], "InstanceConnectivity tests the network"),
        ],
    )
    def test_what_cannot_be_checked(self, aws, said, arguments, refusal):
        out = said("check", "llm-train", *arguments, "--yes", code=1).out
        assert out.splitlines()[1].startswith(f"refused: {refusal}")
        assert "take no jobs" not in out
        assert aws.requests("StartClusterHealthCheck") == []

    def test_connectivity_of_two(self, aws, said):
        arguments = ["--group", "workers", "--check", "InstanceConnectivity", "--check", "InstanceStress"]
        assert data(said, "check", "llm-train", *arguments, "--dry-run")["refusals"] == []

    @pytest.mark.parametrize(
        ("status", "refusal"),
        [
            (
                "DeepHealthCheckInProgress",
                "a cluster runs one check at a time, and workers-2 are being checked",
            ),
            ("Pending", "workers-2 is Pending: only running nodes can be checked"),
        ],
    )
    def test_nodes_that_are_busy(self, aws, said, status, refusal):
        aws.answers["ListClusterNodes"] = {
            "ClusterNodeSummaries": [node("workers", 1), node("workers", 2, status=status)]
        }
        assert f"refused: {refusal}" in said("check", "llm-train", "--group", "workers", code=1).out

    def test_a_cluster_that_changes(self, aws, said):
        aws.answers["DescribeCluster"] = cluster(ClusterStatus="Updating")
        out = said("check", "llm-train", "workers-1", code=1).out
        assert "refused: cluster llm-train is Updating, not InService; wait" in out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "name nodes, or a group with --group"),
            (["--group", "x"], "has no group x; it has controller, workers"),
            (["workers-1", "--check", "All"], "--check must be one of InstanceStress, InstanceConnectivity"),
        ],
    )
    def test_refusals(self, aws, said, arguments, message):
        assert message in said("check", "llm-train", *arguments, code=2).err

    def test_a_large_group_is_checked_as_a_whole(self, aws, said):
        nodes = [node("workers", number) for number in range(1, 502)]
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": nodes}
        found = data(said, "check", "llm-train", "--group", "workers", "--dry-run")
        (asked,) = found["request"]["DeepHealthCheckConfigurations"]
        assert asked == {"InstanceGroupName": "workers", "DeepHealthChecks": ["InstanceStress"]}
        more = {"ClusterNodeSummaries": [*nodes, node("workers", 502)]}
        aws.answers["ListClusterNodes"] = more
        names = [f"workers-{number}" for number in range(1, 502)]
        out = said("check", "llm-train", *names, "--dry-run", code=1).out
        assert "501 nodes of workers are more than the 500 of one request; name fewer" in out

    def test_a_group_without_nodes(self, aws, said):
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": [node("controller", 1)]}
        assert "group workers has no nodes" in said("check", "llm-train", "--group", "workers", code=2).err


class TestUpdateSoftware:
    @pytest.fixture
    def eks(self, aws):
        arn = "arn:aws:eks:us-west-2:111122223333:cluster/llm-eks"
        scripts = {"SourceS3Uri": "s3://scripts/1/", "OnCreate": "on_create.sh"}
        image = {"CurrentImageReleaseVersion": "1.0.0", "ImageVersionStatus": "UpdateAvailable"}
        groups = [group("a", 2, LifeCycleConfig=scripts, **image), group("b", 1)]
        aws.answers["DescribeCluster"] = cluster(
            Orchestrator={"Eks": {"ClusterArn": arn}}, InstanceGroups=groups
        )
        nodes = [node("a", 1), node("a", 2), node("b", 1)]
        aws.answers["ListClusterNodes"] = {"ClusterNodeSummaries": nodes}
        aws.answers["UpdateClusterSoftware"] = {"ClusterArn": CLUSTER_ARN}
        return aws

    def test_all_groups(self, eks, said):
        out = said("update-software", "llm-train", "--yes").out
        assert "  a, image now 1.0.0, UpdateAvailable: " in out
        assert "3 nodes of a, b are imaged anew: what is on their root volumes is lost" in out
        assert "the lifecycle scripts run again on each of them: s3://scripts/1/on_create.sh" in out
        assert "all at once: no batches are asked for" in out
        assert eks.requests("UpdateClusterSoftware") == [{"ClusterName": CLUSTER_ARN}]

    def test_everything_that_can_be_said(self, eks, said):
        out = said(
            "update-software", "llm-train", "--group", "a", "--release-version", "1.2.3",
            "--batch-percent", "25", "--rollback-batch-nodes", "2", "--wait-seconds", "900",
            "--rollback-alarm", "loss", "--yes",
        ).out  # fmt: skip
        assert "25 % of the group at a time" in out
        assert "2 nodes of a are imaged anew" in out
        assert eks.requests("UpdateClusterSoftware") == [
            {
                "ClusterName": CLUSTER_ARN,
                "InstanceGroups": [{"InstanceGroupName": "a", "ImageReleaseVersion": "1.2.3"}],
                "DeploymentConfig": {
                    "RollingUpdatePolicy": {
                        "MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 25},
                        "RollbackMaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2},
                    },
                    "WaitIntervalInSeconds": 900,
                    "AutoRollbackConfiguration": [{"AlarmName": "loss"}],
                },
            }
        ]

    def test_a_dry_run_changes_nothing(self, eks, said):
        found = data(
            said, "update-software", "llm-train", "--group", "b", "--image-id", "default", "--dry-run"
        )
        assert found["request"] == {
            "ClusterName": CLUSTER_ARN, "InstanceGroups": [{"InstanceGroupName": "b"}], "ImageId": "default",
        }  # fmt: skip
        assert [one["name"] for one in found["nodes"]] == ["b-1"]
        assert "they have no lifecycle scripts that would run again" in found["consequences"]
        assert eks.requests("UpdateClusterSoftware") == []

    def test_it_takes_no_for_an_answer(self, eks, said, types):
        types("n")
        assert "nothing was done" in said("update-software", "llm-train", code=1).err
        assert eks.requests("UpdateClusterSoftware") == []

    def test_it_asks(self, eks, said, types):
        types("y")
        assert data(said, "update-software", "llm-train")["started"]

    @pytest.mark.parametrize(
        ("arguments", "refusal"),
        [
            (
                ["--wait-seconds", "60"],
                "waiting, alarms and rollback go with batches; say how many nodes at once",
            ),
            (["--image-id", "ami-0123456789", "--release-version", "1.0.0"], "exclude each other"),
            (["--batch-percent", "101"], "must be 1 to 100 percent, got 101"),
            (["--batch-nodes", "1", "--rollback-alarm", "x", "--rollback-alarm", "x"], "'x' is listed twice"),
        ],
    )
    def test_what_the_service_refuses(self, eks, said, arguments, refusal):
        out = said("update-software", "llm-train", *arguments, "--yes", code=1).out
        assert refusal in out
        assert eks.requests("UpdateClusterSoftware") == []

    def test_no_batches_on_slurm(self, aws, said):
        out = said("update-software", "llm-train", "--all-groups", "--batch-nodes", "1", "--yes", code=1).out
        assert "refused: updates in batches, which goes with the EKS orchestrator only" in out

    def test_a_controller_loses_its_state(self, aws, said):
        out = said("update-software", "llm-train", "--all-groups", "--dry-run").out
        assert "Slurm's controller is among them: no job starts until it is back" in out
        out = said("update-software", "llm-train", "--group", "workers", "--dry-run").out
        assert "controller is among them" not in out

    def test_an_image_of_one_s_own_needs_a_word(self, aws, said):
        aws.answers["DescribeCluster"] = cluster(
            InstanceGroups=[group("workers", 2, CurrentImageId="ami-0123456789")]
        )
        out = said("update-software", "llm-train", "--all-groups", code=1).out
        assert "refused: group workers has an image of its own; say --image-id" in out
        assert said("update-software", "llm-train", "--all-groups", "--image-id", "default", "--dry-run").out

    def test_a_cluster_that_changes(self, aws, said):
        aws.answers["DescribeCluster"] = cluster(ClusterStatus="SystemUpdating")
        out = said("update-software", "llm-train", "--all-groups", code=1).out
        assert "refused: cluster llm-train is SystemUpdating" in out
        assert "is lost" not in out

    @pytest.mark.parametrize("more", [[], ["--yes"], ["--dry-run"]])
    def test_on_slurm_groups_are_named(self, aws, said, more):
        err = said("update-software", "llm-train", *more, code=2).err
        assert (
            "on Slurm an update of all groups updates also controller with Slurm's controller, which stops "
            "the scheduler for all jobs: name groups with --group, such as --group workers, or say "
            "--all-groups; cluster llm-train has controller (1 nodes), workers (2 nodes)"
        ) in err
        assert aws.requests("UpdateClusterSoftware") == []

    def test_on_slurm_set_up_by_scripts_nobody_knows_the_controller(self, aws, said):
        aws.answers["DescribeCluster"] = cluster(InstanceGroups=[group("head", 1), group("workers", 2)])
        err = said("update-software", "llm-train", code=2).err
        assert "the API does not tell which that is, since lifecycle scripts set Slurm up: name groups" in err

    @pytest.mark.parametrize("named", [["--group", "workers"], ["--all-groups"]])
    def test_on_slurm_what_is_named_is_updated(self, aws, said, named):
        aws.answers["UpdateClusterSoftware"] = {"ClusterArn": CLUSTER_ARN}
        assert "started" in said("update-software", "llm-train", *named, "--yes").out
        (asked,) = aws.requests("UpdateClusterSoftware")
        assert ("InstanceGroups" in asked) == (named[0] == "--group")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--group", "x"], "cluster llm-train has no group x; it has controller, workers"),
            (["--group", "workers", "--all-groups"], "not allowed with argument"),
            (["--release-version", "new"], "must be such as 1.2.3, got 'new'"),
            (["--wait-seconds", "3601"], "must be from 0 to 3600, got '3601'"),
            (["--batch-nodes", "1", "--batch-percent", "1"], "not allowed with argument"),
        ],
    )
    def test_refusals(self, aws, said, arguments, message):
        assert message in said("update-software", "llm-train", *arguments, code=2).err


class TestWatch:
    def test_it_looks_again(self, aws, said):
        out = said("watch", "llm-train", "--every", "0.01", "--times", "3").out
        assert out.count("llm-train (abcdefgh1234)") == 3
        assert len(aws.requests("DescribeCluster")) == 3

    def test_it_outlives_throttling(self, aws, said):
        found = aws.answers["DescribeCluster"]
        aws.answers["DescribeCluster"] = [found, error("ThrottlingException"), found]
        out = said("watch", "llm-train", "--every", "0.01", "--times", "3").out
        assert "not known now, trying again: AWS throttles" in out
        assert out.count("llm-train (abcdefgh1234)") == 2

    def test_it_outlives_trouble_of_aws(self, aws, said):
        found = aws.answers["DescribeCluster"]
        aws.answers["DescribeCluster"] = [found, error("ServiceUnavailable", status=503), found]
        out = said("watch", "llm-train", "--every", "0.01", "--times", "3").out
        assert (
            "AWS itself has trouble with sagemaker:DescribeCluster in us-west-2 (ServiceUnavailable)" in out
        )
        assert out.count("llm-train (abcdefgh1234)") == 2

    def test_it_ends_with_the_credentials(self, aws, said):
        aws.answers["DescribeCluster"] = [aws.answers["DescribeCluster"], error("ExpiredTokenException")]
        assert "have expired" in said("watch", "llm-train", "--every", "0.01", code=2).err

    def test_at_first_nothing_passes(self, aws, said):
        aws.answers["DescribeCluster"] = error("ThrottlingException")
        assert "AWS throttles" in said("watch", "llm-train", code=2).err

    def test_on_a_terminal(self, aws, programs, monkeypatch):
        terminal = Terminal()
        monkeypatch.setattr("sys.stdout", terminal)
        monkeypatch.setenv("COLUMNS", "160")
        assert main(["watch", "llm-train", "--every", "0.01", "--times", "2"]) == 0
        assert "workers-2" in terminal.getvalue()

    def test_what_is_copied_into_commands_stays_whole(self, aws, programs, monkeypatch):
        terminal = Terminal()
        monkeypatch.setattr("sys.stdout", terminal)
        monkeypatch.setenv("COLUMNS", "70")
        assert main(["list", "llm-train"]) == 0
        assert f"workers-2     {SECOND} " in terminal.getvalue()

    def test_faults_stand_below_the_table(self, aws, said, programs):
        program = programs / "scontrol"
        program.write_text(
            "#!/bin/sh\necho 'NodeName=ip-10-7-0-1 State=DOWN Reason=Xid 79, gone [root@2026-11-30]'\n"
        )
        program.chmod(0o755)
        lines = said("list", "llm-train").out.splitlines()
        assert lines[-1] == "workers-1: Xid 79, gone (Slurm)"
        assert [line.split()[-2:] for line in lines if line.startswith(("workers-1 ", "workers-2 "))] == [
            ["DOWN", "-"], ["?", "?"],
        ]  # fmt: skip

    def test_it_can_be_interrupted(self, aws, said, monkeypatch):
        def interrupted(_):
            raise KeyboardInterrupt

        monkeypatch.setattr("time.sleep", interrupted)
        assert "interrupted" in said("watch", "llm-train", code=130).err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["replace", "llm-train"], "required: NODE"),
        (["watch", "llm-train", "--every", "0"], "must be more than 0, got '0'"),
        (["watch", "llm-train", "--every", "often"], "must be more than 0, got 'often'"),
        (["watch", "llm-train", "--times", "-1"], "must be a whole number from 1"),
        (["drill", "llm-train", "workers-1"], "required: --recovery-records"),
        (["repair", "llm-train"], "invalid choice: 'repair'"),
    ],
)
def test_wrong_options(said, arguments, message):
    assert message in said(*arguments, code=2).err


def test_what_changes_something_has_a_dry_run():
    for command in ("replace", "reboot", "check", "update-software", "drill"):
        more = ["--recovery-records", "x"] if command == "drill" else []
        node = [] if command == "update-software" else ["n"]
        assert parsed([command, "c", *node, *more, "--dry-run"]).dry_run


def test_help_loads_neither_boto3_nor_pydantic():
    probe = (
        "import sys\n"
        "from hyperpod_lifecycle.operations.command import main\n"
        "main(['--help'])\n"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert not {"boto3", "botocore", "pydantic", "rich", "numpy"} & set(ran.stderr.split())
    assert "update-software" in ran.stdout


def test_version(said):
    assert said("--version").out.startswith("hyperpod-nodes ")


def test_python():
    import hyperpod_lifecycle.operations as operations

    assert {getattr(operations, name).__name__ for name in operations.__all__} == set(operations.__all__)
    assert set(operations.__all__) <= set(dir(operations))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = operations.nothing
