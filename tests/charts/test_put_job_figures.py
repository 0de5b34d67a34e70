"""The script that puts figures of a Kubernetes cluster's jobs, against a stand-in for its API over HTTPS.

boto3 and the AWS CLI are stand-ins too, which keep what they are called with. The clock stands still.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import types
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from kubernetes_stand_in import KubernetesStandIn, serving

from hyperpod_charts.job_figures_check import figures_script
from hyperpod_model.catalog.job_figures import FIGURES_BY_KEY

NOW = datetime(2026, 11, 30, 12, 10, 20, tzinfo=UTC)
"""A check that began 20 seconds late: it tells of preemptions from 12:00:00 to 12:10:00."""

PODS = "/api/v1/pods"
KUEUE = "/apis/kueue.x-k8s.io"
VERSION = "v1beta2"
WORKLOADS = f"{KUEUE}/{VERSION}/workloads"
QUEUES = f"{KUEUE}/{VERSION}/localqueues"
GPU = {"nvidia.com/gpu": "8"}


def at(clock: str) -> str:
    """A time of that day as Kubernetes writes it."""
    return f"2026-11-30T{clock}Z"


def container(limits: dict[str, str]) -> dict[str, Any]:
    return {"name": "train", "image": "train:1", "resources": {"limits": limits}}


def pod(
    name: str,
    limits: dict[str, str],
    *,
    owner: str | None = None,
    namespace: str = "kubeflow",
    phase: str = "Running",
    made: str = "11:00:00",
    started: str | None = "11:30:00",
    **spec: Any,
) -> dict[str, Any]:
    owners = [] if owner is None else [{"uid": owner, "controller": True}]
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "creationTimestamp": at(made),
            "ownerReferences": owners,
        },
        "spec": {"containers": [container(limits)], **spec},
        "status": {"phase": phase, **({} if started is None else {"startTime": at(started)})},
    }


RUNNING = [
    pod("llama-0", GPU, owner="a", started="11:40:00"),
    pod("llama-1", GPU, owner="a", started="11:30:20"),
    pod("gpt-0", {"vpc.amazonaws.com/efa": "32"}, owner="b", started="12:00:00"),
    pod("trn-0", {"aws.amazon.com/neuron": "16"}, owner="c", namespace="hyperpod-ns-x", started="12:09:20"),
    pod("alone", GPU, started=None, made="12:10:00"),
    pod("coredns-0", {"cpu": "1"}, owner="d", namespace="kube-system", started="01:00:00"),
    pod("asks-for-none", {"nvidia.com/gpu": "0"}, owner="e", started="01:00:00"),
]
"""Four jobs, and pods that are none."""


def condition(type: str, status: bool, clock: str, reason: str | None = None) -> dict[str, Any]:
    return {
        "type": type,
        "status": str(status),
        "lastTransitionTime": at(clock),
        "reason": type if reason is None else reason,
        "message": "",
    }


def workload(
    *conditions: dict[str, Any],
    namespace: str = "hyperpod-ns-x",
    made: str = "11:00:00",
    active: bool | None = None,
    limits: dict[str, str] | None = None,
) -> dict[str, Any]:
    """A workload with the members that Kueue's API gives it, as far as the script reads them."""
    asked = GPU if limits is None else limits
    return {
        "apiVersion": f"kueue.x-k8s.io/{VERSION}",
        "kind": "Workload",
        "metadata": {"name": "one", "namespace": namespace, "creationTimestamp": at(made)},
        "spec": {
            "queueName": f"{namespace}-localqueue",
            "podSets": [
                {"name": "main", "count": 2, "template": {"spec": {"containers": [container(asked)]}}}
            ],
            **({} if active is None else {"active": active}),
        },
        **({"status": {"conditions": list(conditions)}} if conditions else {}),
    }


def admitted(clock: str) -> list[dict[str, Any]]:
    return [condition("QuotaReserved", True, clock), condition("Admitted", True, clock)]


def preempted(clock: str) -> list[dict[str, Any]]:
    """As Kueue leaves a workload that gave way, and waits again."""
    return [
        condition("QuotaReserved", False, clock, "Pending"),
        condition("Evicted", True, clock, "Preempted"),
        condition("Preempted", True, clock, "InCohortReclamation"),
        condition("Requeued", True, clock, "Preempted"),
        condition("Admitted", False, clock, "NoReservation"),
    ]


def readmitted(given_way: str, clock: str) -> list[dict[str, Any]]:
    """As Kueue leaves a workload that gave way and has quota again."""
    return [
        *admitted(clock),
        condition("Evicted", False, clock, "QuotaReserved"),
        condition("Preempted", False, clock, "QuotaReserved"),
        condition("Requeued", True, given_way, "Preempted"),
    ]


def queue(namespace: str) -> dict[str, Any]:
    return {"metadata": {"name": f"{namespace}-localqueue", "namespace": namespace}}


class Check:
    """A run of the script within a pod, as far as it sees one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, api: KubernetesStandIn, folder: Path) -> None:
        self.api, self.folder, self._patch = api, folder, monkeypatch
        self.calls: list[dict[str, Any]] = []
        self.boto3: Exception | str | None = None
        (folder / "ca.crt").write_bytes(base64.b64decode(api.authority))
        (folder / "token").write_text("secret\n")
        place = urlsplit(api.endpoint)
        for name, value in {
            "NAMESPACE": "/aws/sagemaker/Clusters",
            "CLUSTER": "llm-train",
            "CLUSTER_DIMENSION": "ClusterName",
            "QUEUE_DIMENSION": "Queue",
            "FIGURES": json.dumps(FIGURES_BY_KEY),
            "MINUTES": "10",
            "AWS_REGION": "us-west-2",
            "KUBERNETES_SERVICE_HOST": str(place.hostname),
            "KUBERNETES_SERVICE_PORT": str(place.port),
        }.items():
            monkeypatch.setenv(name, value)

    def has_kueue(self, *workloads: dict[str, Any], queues: tuple[str, ...] = ()) -> None:
        """Serve two versions, of which the preferred one has no workloads."""
        versions = [{"groupVersion": f"kueue.x-k8s.io/{name}"} for name in ("v1", VERSION)]
        self.api.objects[KUEUE] = {"versions": versions, "preferredVersion": versions[0]}
        self.api.objects[f"{KUEUE}/v1"] = {"resources": [{"name": "topologies"}]}
        self.api.objects[f"{KUEUE}/{VERSION}"] = {
            "resources": [{"name": "workloads"}, {"name": "workloads/status"}, {"name": "localqueues"}]
        }
        self.api.objects[WORKLOADS] = list(workloads) or EMPTY
        self.api.objects[QUEUES] = [queue(name) for name in queues] or EMPTY

    def run(self, *, now: datetime = NOW) -> int:
        script: dict[str, Any] = {"__name__": "put_job_figures"}
        exec(compile(figures_script(), "put_job_figures.py", "exec"), script)
        script["ACCOUNT"] = str(self.folder)
        self._patch.setattr("time.time", now.timestamp)
        client = types.SimpleNamespace(put_metric_data=self._put)
        there = types.SimpleNamespace(client=lambda name, region_name: client)
        self._patch.setitem(sys.modules, "boto3", None if self.boto3 == "absent" else there)
        code: int = script["main"]()
        return code

    def _put(self, **data: Any) -> None:
        if isinstance(self.boto3, Exception):
            raise self.boto3
        self.calls.append(data)

    def figures(self) -> dict[str | None, dict[str, Any]]:
        """What was put, by queue; None is the cluster."""
        found: dict[str | None, dict[str, Any]] = {}
        for call in self.calls:
            assert call["Namespace"] == "/aws/sagemaker/Clusters"
            for datum in call["MetricData"]:
                dimensions = {one["Name"]: one["Value"] for one in datum["Dimensions"]}
                assert dimensions.pop("ClusterName") == "llm-train"
                of = found.setdefault(dimensions.pop("Queue", None), {})
                assert not dimensions
                assert datum["MetricName"] not in of
                of[datum["MetricName"]] = datum["Value"]
        return found


EMPTY = {"items": [], "metadata": {}}


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Check]:
    with serving(tmp_path) as api:
        api.objects[PODS] = list(RUNNING)
        api.page = 3
        yield Check(monkeypatch, api, tmp_path)


class TestRunning:
    def test_counts_jobs_and_not_pods(self, check: Check, capsys: pytest.CaptureFixture[str]) -> None:
        check.has_kueue()
        assert check.run() == 0
        figures = check.figures()
        assert {of: one["RunningJobs"] for of, one in figures.items()} == {
            None: 4,
            "kubeflow": 3,
            "hyperpod-ns-x": 1,
        }
        # Since the first pod of a job started; one that says no start, since it was made.
        assert {of: one["LongestRun"] for of, one in figures.items()} == {
            None: 2400,
            "kubeflow": 2400,
            "hyperpod-ns-x": 60,
        }
        assert capsys.readouterr().out == (
            "RunningJobs: 4, LongestRun: 2400, PendingJobs: 0, LongestWait: 0, PreemptedJobs: 0\n"
        )
        assert {token for _, _, token in check.api.asked} == {"Bearer secret"}

    def test_an_idle_fleet_has_none_and_its_queues_neither(self, check: Check) -> None:
        check.api.objects[PODS] = RUNNING[-2:]
        check.has_kueue(queues=("hyperpod-ns-x",))
        assert check.run() == 0
        zeros = {metric.name: 0 for metric in FIGURES_BY_KEY.values()}
        assert check.figures() == {None: zeros, "hyperpod-ns-x": zeros}

    def test_units(self, check: Check) -> None:
        check.has_kueue()
        check.run()
        units = {datum["MetricName"]: datum["Unit"] for datum in check.calls[0]["MetricData"]}
        assert units == {figure.name: figure.unit for figure in FIGURES_BY_KEY.values()}

    @pytest.mark.parametrize("status", [401, 403, 500])
    def test_what_cannot_be_counted_is_not_put(
        self, check: Check, status: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        check.has_kueue()
        check.api.refused[PODS] = status
        assert check.run() == 1
        assert check.calls == []
        said = capsys.readouterr().out
        assert "cannot count running jobs, nothing is put" in said
        assert str(status) in said


class TestWithKueue:
    @pytest.mark.parametrize(
        ("case", "seconds"),
        [
            (workload(made="12:00:00"), 620),
            (workload(condition("QuotaReserved", False, "12:05:00", "Pending"), made="12:00:00"), 620),
            # It has quota, and waits for checks of admission.
            (workload(condition("QuotaReserved", True, "12:05:00"), made="12:00:00"), 620),
            (workload(*preempted("12:05:00")), 320),
            # It waits since it may be admitted again, not since its owner deactivated it.
            (
                workload(
                    condition("Admitted", False, "11:00:00", "NoReservation"),
                    condition("Evicted", True, "11:00:00", "Deactivated"),
                    condition("Requeued", True, "12:09:00", "Reactivated"),
                ),
                80,
            ),
            (workload(*admitted("12:00:00")), None),
            # Its pods are being ended.
            (workload(*admitted("12:00:00"), condition("Evicted", True, "12:10:00", "Preempted")), None),
            (workload(condition("Finished", True, "12:00:00")), None),
            (
                workload(condition("Admitted", False, "12:00:00"), condition("Finished", True, "12:00:00")),
                None,
            ),
            (workload(active=False), None),
            (workload(active=True, made="12:10:00"), 20),
            (workload(limits={"cpu": "4"}), None),
            (workload(limits={"nvidia.com/gpu": "0"}), None),
        ],
    )
    def test_what_waits(self, check: Check, case: dict[str, Any], seconds: int | None) -> None:
        check.has_kueue(case)
        assert check.run() == 0
        whole = check.figures()[None]
        assert (whole["PendingJobs"], whole["LongestWait"]) == (int(seconds is not None), seconds or 0)

    @pytest.mark.parametrize(
        ("case", "times"),
        [
            (workload(*preempted("12:00:00")), 1),
            (workload(*preempted("12:09:59")), 1),
            # The check before told of the first, the next one tells of the second.
            (workload(*preempted("11:59:59")), 0),
            (workload(*preempted("12:10:00")), 0),
            # Kueue that knows no condition of that name.
            (workload(*admitted("11:00:00"), condition("Evicted", True, "12:05:00", "Preempted")), 1),
            (workload(condition("Evicted", True, "12:05:00", "PodsReadyTimeout")), 0),
            (workload(condition("Evicted", True, "12:05:00", "Deactivated"), active=False), 0),
            # Preempted and admitted again between two checks; long ago, and only admitted between them.
            (workload(*readmitted("12:02:00", "12:08:00")), 1),
            (workload(*readmitted("11:02:00", "12:08:00")), 0),
            # Preempted again, which the time of the first requeueing does not say.
            (workload(*preempted("12:05:00")[:3], condition("Requeued", True, "10:00:00", "Preempted")), 1),
            # Its pods ended in this interval, and it gave way in the one before.
            (workload(*preempted("11:59:00")[:3], condition("Requeued", True, "12:00:30", "Preempted")), 0),
            (workload(*readmitted("12:02:00", "12:03:00"), condition("Finished", True, "12:08:00")), 1),
            (workload(*preempted("12:05:00"), limits={"cpu": "1"}), 0),
            (workload(), 0),
        ],
    )
    def test_what_gave_way_since_the_check_before(
        self, check: Check, case: dict[str, Any], times: int
    ) -> None:
        check.has_kueue(case)
        assert check.run() == 0
        assert check.figures()[None]["PreemptedJobs"] == times

    def test_two_checks_have_no_preemption_in_common_and_miss_none(self, check: Check) -> None:
        """Each check at another moment of its interval, as pods start late."""
        begin = datetime(2026, 11, 30, 11, 30, tzinfo=UTC)
        moments = [begin + timedelta(seconds=7 * number) for number in range(300)]
        check.has_kueue(*(workload(*preempted(f"{moment:%H:%M:%S}")) for moment in moments))
        check.api.page = 500
        total = 0
        for number, late in enumerate((3, 299, 0, 120, 5)):
            check.calls.clear()
            assert check.run(now=begin + timedelta(minutes=10 * number, seconds=late)) == 0
            total += check.figures()[None]["PreemptedJobs"]
        assert total == len(moments)

    def test_each_team_has_its_own(self, check: Check) -> None:
        check.has_kueue(
            workload(made="12:00:20"),
            workload(made="12:09:20"),
            workload(*preempted("12:05:20"), namespace="hyperpod-ns-y"),
            workload(condition("Finished", True, "01:00:00"), namespace="gone"),
            queues=("hyperpod-ns-x", "hyperpod-ns-z"),
        )
        assert check.run() == 0
        told = {
            of: (one["PendingJobs"], one["LongestWait"], one["PreemptedJobs"])
            for of, one in check.figures().items()
        }
        assert told == {
            None: (3, 600, 1),
            "hyperpod-ns-x": (2, 600, 0),
            "hyperpod-ns-y": (1, 300, 1),
            "hyperpod-ns-z": (0, 0, 0),
            "kubeflow": (0, 0, 0),
        }

    def test_asks_in_a_version_that_is_served(self, check: Check) -> None:
        check.has_kueue(workload())
        check.run()
        lists = [path for _, path, _ in check.api.asked if "limit=" in path]
        assert lists == [
            *[path for path in lists if path.startswith(f"{PODS}?fieldSelector=status.phase%3DRunning")],
            f"{WORKLOADS}?limit=500",
            f"{QUEUES}?limit=500",
        ]

    @pytest.mark.parametrize(
        ("path", "status"),
        [(KUEUE, 500), (WORKLOADS, 403), (WORKLOADS, 404), (QUEUES, 403), (f"{KUEUE}/{VERSION}", 503)],
    )
    def test_puts_what_runs_where_kueue_does_not_answer(
        self, check: Check, path: str, status: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        check.has_kueue(workload())
        check.api.refused[path] = status
        assert check.run() == 1
        assert check.figures()[None] == {"RunningJobs": 4, "LongestRun": 2400}
        (line,) = capsys.readouterr().out.splitlines()
        assert line.startswith("cannot tell which jobs wait, only those that run are put: ")
        assert str(status) in line

    def test_says_that_no_version_has_workloads(
        self, check: Check, capsys: pytest.CaptureFixture[str]
    ) -> None:
        check.has_kueue(workload())
        check.api.objects[f"{KUEUE}/{VERSION}"] = {"resources": [{"name": "cohorts"}]}
        assert check.run() == 1
        assert "no version of kueue.x-k8s.io has both workloads and localqueues" in capsys.readouterr().out


class TestWithoutKueue:
    def test_jobs_wait_none_of_whose_pods_runs(self, check: Check) -> None:
        check.api.objects[PODS] = [
            *RUNNING,
            # Its others run.
            pod("llama-2", GPU, owner="a", phase="Pending", started=None, made="11:00:00"),
            pod("wait-0", GPU, owner="w", phase="Pending", started=None, made="12:00:20"),
            pod("wait-1", GPU, owner="w", phase="Pending", started="12:10:00", made="12:00:30"),
            pod("alone", GPU, namespace="other", phase="Pending", started=None, made="12:10:00"),
            pod("cpu", {"cpu": "1"}, owner="c", phase="Pending", started=None, made="01:00:00"),
            pod("held", GPU, phase="Pending", started=None, schedulingGates=[{"name": "mine"}]),
            pod("done", GPU, owner="z", phase="Succeeded"),
        ]
        assert check.run() == 0
        figures = check.figures()
        assert {of: (one["PendingJobs"], one["LongestWait"]) for of, one in figures.items()} == {
            None: (2, 600),
            "kubeflow": (1, 600),
            "other": (1, 20),
            "hyperpod-ns-x": (0, 0),
        }
        # Nobody knows of preemptions; that is not none.
        assert all("PreemptedJobs" not in one for one in figures.values())


class TestCloudWatch:
    def test_says_what_it_refuses(self, check: Check, capsys: pytest.CaptureFixture[str]) -> None:
        check.boto3 = RuntimeError("AccessDenied")
        assert check.run() == 1
        assert capsys.readouterr().out == (
            "CloudWatch takes no figures of jobs: RuntimeError('AccessDenied'); see the role of the service "
            "account\n"
        )

    def test_takes_the_cli_where_there_is_no_boto3(
        self, check: Check, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        commands: list[list[str]] = []
        monkeypatch.setattr("subprocess.run", lambda command, **options: commands.append(command))
        check.boto3 = "absent"
        assert check.run() == 0
        (command,) = commands
        assert command[:-1] == [
            *["aws", "cloudwatch", "put-metric-data", "--region", "us-west-2"],
            *["--namespace", "/aws/sagemaker/Clusters", "--metric-data"],
        ]
        first = json.loads(command[-1])[0]
        assert first == {
            "MetricName": "RunningJobs",
            "Dimensions": [{"Name": "ClusterName", "Value": "llm-train"}],
            "Value": 4,
            "Unit": "Count",
        }

    @pytest.mark.parametrize("way", ["boto3", "absent"])
    def test_many_queues_go_in_several_calls(
        self, check: Check, way: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        names = tuple(f"hyperpod-ns-{'team' * 12}-{number}" for number in range(500))
        check.has_kueue(queues=names)
        check.api.page = 500
        check.boto3 = way
        arguments: list[str] = []
        monkeypatch.setattr("subprocess.run", lambda command, **options: arguments.append(command[-1]))
        assert check.run() == 0
        batches = [json.loads(one) for one in arguments] or [call["MetricData"] for call in check.calls]
        # The cluster, the two namespaces where jobs run, and the queues.
        assert sum(map(len, batches)) == 5 * 503
        assert max(map(len, batches)) <= 1000
        # Linux takes no longer argument.
        assert max(len(json.dumps(batch)) for batch in batches) < 128 * 1024

    @pytest.mark.parametrize(
        ("error", "words"),
        [
            (
                subprocess.CalledProcessError(254, "aws", stderr="\nExpiredToken\n"),
                "takes no figures of jobs: ExpiredToken; see the role",
            ),
            (
                subprocess.TimeoutExpired("aws", 60),
                "takes no figures of jobs: no answer within 60 seconds; see the role",
            ),
            (
                FileNotFoundError(2, "No such file", "aws"),
                "the image has neither boto3 nor the AWS CLI, nothing is put: choose one that has",
            ),
        ],
    )
    def test_says_why_the_cli_failed(
        self,
        check: Check,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        error: Exception,
        words: str,
    ) -> None:
        def run(command: list[str], **options: Any) -> None:
            raise error

        monkeypatch.setattr("subprocess.run", run)
        check.boto3 = "absent"
        assert check.run() == 1
        assert words in capsys.readouterr().out
