"""What is sent by the programs that put figures of jobs, as CloudWatch's double takes it.

The AWS CLI is real, and boto3. Slurm and the Kubernetes API are stand-ins.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from kubernetes_stand_in import serving
from moto.cloudwatch.models import cloudwatch_backends
from node_scripts.machine import JOB_FIGURES

from aws_double.session import Session
from hyperpod_charts.job_figures_check import figures_script
from hyperpod_lifecycle.scripts_folder import scripts_folder
from hyperpod_model.catalog.job_figures import FIGURES_BY_KEY
from hyperpod_model.catalog.logs import METRIC_NAMESPACE

PARTITIONS = [f"team-{number}" for number in range(60)]
ZEROS = {figure.name: (0.0, figure.unit) for figure in FIGURES_BY_KEY.values()}
ACCOUNT = os.environ["MOTO_ACCOUNT_ID"]


@pytest.fixture(autouse=True)
def _nothing_put(root: Session) -> Iterator[None]:
    """The double forgets no value, and all tests of a process have one."""
    cloudwatch_backends[ACCOUNT][root.region].metric_data.clear()
    yield
    cloudwatch_backends[ACCOUNT][root.region].metric_data.clear()


def told(root: Session, queue: str | None = None) -> dict[str, tuple[float, str]]:
    """Value and unit of each metric of a queue, or of the cluster, as the double keeps them.

    Its answers on a metric count those in that have further dimensions, which CloudWatch's do not.
    """
    wanted = {"ClusterName": "llm-train"} | ({} if queue is None else {"Queue": queue})
    found: dict[str, tuple[float, str]] = {}
    for datum in cloudwatch_backends[ACCOUNT][root.region].metric_data:
        assert datum.namespace == METRIC_NAMESPACE
        if {one.name: one.value for one in datum.dimensions} == wanted:
            assert datum.name not in found
            found[datum.name] = (float(datum.value), datum.unit)
    return found


class Controller:
    """A controller whose Slurm has one job that runs in the first of many partitions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said = folder / "said.json"
        self.said.write_text(json.dumps({**JOB_FIGURES, "cluster": "llm-train", "region": "us-west-2"}))
        began = datetime.now(UTC) - timedelta(minutes=5)
        line = f"{PARTITIONS[0]}|RUNNING|1|N/A|{began:%Y-%m-%dT%H:%M:%S}|None|"
        self.program("squeue", f"echo '{line}'")
        self.program("sinfo", f"printf '%s\\n' {' '.join(PARTITIONS)}")
        self.program("scontrol", "echo AccountingStorageType = accounting_storage/slurmdbd")
        self.program("sacct", "exit 0")

    def program(self, name: str, text: str) -> None:
        file = self.folder / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)


@pytest.fixture
def controller(tmp_path: Path) -> Controller:
    return Controller(tmp_path)


def of_slurm(root: Session) -> None:
    running = {**ZEROS, "RunningJobs": (1.0, "Count")}
    for queue in (None, PARTITIONS[0]):
        found = told(root, queue)
        seconds, unit = found.pop("LongestRun")
        assert (300 <= seconds < 900, unit) == (True, "Seconds")
        assert found == {name: one for name, one in running.items() if name != "LongestRun"}
    assert told(root, PARTITIONS[-1]) == ZEROS


def test_slurm_by_the_aws_cli(root: Session, controller: Controller) -> None:
    places = (str(controller.folder), str(Path(sys.executable).parent), os.environ["PATH"])
    environment = {**os.environ, **root.environment(), "PATH": os.pathsep.join(places)}
    script = scripts_folder() / "lib" / "job_figures.py"
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(script), str(controller.said)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    of_slurm(root)


def test_slurm_by_boto3(root: Session, controller: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in root.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", str(controller.folder))
    script: dict[str, Any] = {"__name__": "job_figures"}
    text = (scripts_folder() / "lib" / "job_figures.py").read_text("utf-8")
    exec(compile(text, "job_figures.py", "exec"), script)
    script["PLACES"] = ""
    assert script["main"](str(controller.said)) == 0
    of_slurm(root)


def test_kubernetes_by_boto3(root: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path) as api:
        (tmp_path / "ca.crt").write_bytes(base64.b64decode(api.authority))
        (tmp_path / "token").write_text("secret")
        group = "/apis/kueue.x-k8s.io"
        api.objects["/api/v1/pods"] = []
        api.objects[group] = {"versions": [{"groupVersion": "kueue.x-k8s.io/v1beta1"}]}
        api.objects[f"{group}/v1beta1"] = {"resources": [{"name": "workloads"}, {"name": "localqueues"}]}
        api.objects[f"{group}/v1beta1/workloads"] = []
        api.objects[f"{group}/v1beta1/localqueues"] = [{"metadata": {"namespace": one}} for one in PARTITIONS]
        place = urlsplit(api.endpoint)
        for name, value in {
            **root.environment(),
            "NAMESPACE": METRIC_NAMESPACE,
            "CLUSTER": "llm-train",
            "CLUSTER_DIMENSION": "ClusterName",
            "QUEUE_DIMENSION": "Queue",
            "FIGURES": json.dumps(FIGURES_BY_KEY),
            "MINUTES": "10",
            "KUBERNETES_SERVICE_HOST": str(place.hostname),
            "KUBERNETES_SERVICE_PORT": str(place.port),
        }.items():
            monkeypatch.setenv(name, value)
        script: dict[str, Any] = {"__name__": "put_job_figures"}
        exec(compile(figures_script(), "put_job_figures.py", "exec"), script)
        script["ACCOUNT"] = str(tmp_path)
        assert script["main"]() == 0
    for queue in (None, PARTITIONS[0], PARTITIONS[-1]):
        assert told(root, queue) == ZEROS
