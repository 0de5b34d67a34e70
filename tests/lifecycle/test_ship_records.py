"""The records of recoveries on their way to CloudWatch: one node ships them, with a file for each start.

The CloudWatch agent is a stand-in that keeps the configuration it is given.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from node_scripts.machine import CLOUDWATCH_AGENT
from node_scripts.node import NEEDED, Node
from node_scripts.scenarios import SCENARIOS

from hyperpod_lifecycle.node_parameters import NodeParameters, RecoveryRecordsFolder
from hyperpod_lifecycle.scripts_folder import scripts_folder

SCRIPT = scripts_folder() / "lib" / "log_shipping.py"
NODE = {
    "cluster_arn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefgh1234",
    "cluster_name": "llm-train",
    "instance_group": "controller",
    "instance_id": "i-0123456789abcdef0",
}


def configured(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    node = tmp_path / "node.json"
    node.write_text(json.dumps(NODE))
    command = [sys.executable, "-I", str(SCRIPT), str(node), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def collected(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["logs"]["logs_collected"]["files"]["collect_list"]
    return found


def test_every_file_of_records_goes_to_the_log_group_of_the_cluster(tmp_path: Path) -> None:
    (records,) = collected(configured(tmp_path, "{}", "/fsx/recovery/").stdout)
    assert records == {
        "file_path": "/fsx/recovery/*.jsonl",
        "log_group_name": "/aws/sagemaker/Clusters/llm-train/abcdefgh1234",
        "log_stream_name": "recovery/controller/i-0123456789abcdef0",
        "publish_multi_logs": True,
        "timezone": "UTC",
    }


def test_records_go_beside_other_files(tmp_path: Path) -> None:
    files = json.dumps({"slurmd": "/var/log/slurm/slurmd.log"})
    slurmd, records = collected(configured(tmp_path, files, "/fsx/recovery").stdout)
    assert slurmd["file_path"] == "/var/log/slurm/slurmd.log"
    assert "publish_multi_logs" not in slurmd
    assert records["file_path"] == "/fsx/recovery/*.jsonl"
    assert collected(configured(tmp_path, files).stdout) == [slurmd]


def test_a_relative_folder_is_refused(tmp_path: Path) -> None:
    result = configured(tmp_path, "{}", "recovery")
    assert result.returncode == 1
    assert result.stderr == "needs an absolute folder of records, got 'recovery'\n"


def test_the_parameters_that_nodes_get() -> None:
    records = RecoveryRecordsFolder(group="head", folder="/fsx/recovery")
    both = NodeParameters(orchestrator="slurm", log_files={"a": "/a.log"}, recovery_records=records)
    assert json.loads(both.render())["log_shipping"] == {
        "files": {"a": "/a.log"},
        "records": {"group": "head", "folder": "/fsx/recovery"},
    }
    alone = NodeParameters(orchestrator="slurm", recovery_records=records)
    assert list(json.loads(alone.render())["log_shipping"]) == ["records"]


@pytest.mark.needs_system(*NEEDED)
class TestStep:
    def taken(self, tmp_path: Path, name: str, group: str) -> str | None:
        (found,) = (one for one in SCENARIOS if one.name == name)
        assert found.parameters is not None
        shipping = {
            **found.parameters["log_shipping"],
            "records": {"group": group, "folder": "/fsx/recovery"},
        }
        scenario = dataclasses.replace(
            found,
            parameters={**found.parameters, "log_shipping": shipping},
            files={**found.files, **CLOUDWATCH_AGENT},
        )
        node = Node(tmp_path, scenario)
        result = node.run(scenario.entry_point)
        assert result.returncode == 0, result.stdout + result.stderr
        configuration = node.root / "opt/aws/amazon-cloudwatch-agent/taken.json"
        return configuration.read_text() if configuration.exists() else None

    def test_the_named_group_ships(self, tmp_path: Path) -> None:
        text = self.taken(tmp_path, "controller, HyperPod configures Slurm", "controller")
        assert text is not None
        assert [one["file_path"] for one in collected(text)][-1] == "/fsx/recovery/*.jsonl"

    def test_other_groups_do_not(self, tmp_path: Path) -> None:
        text = self.taken(tmp_path, "worker, HyperPod configures Slurm", "controller")
        assert text is not None
        assert [one["file_path"] for one in collected(text)] == ["/var/log/slurm/slurmd.log"]
