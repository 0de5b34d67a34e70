"""The records of recoveries on their way to CloudWatch: one node ships them, with a file for each start.

The CloudWatch agent is a stand-in that keeps the configuration it is given.
"""

from __future__ import annotations

import dataclasses
import json
import os
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
GATHER = scripts_folder() / "lib" / "gather_records.py"
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
        assert [one["file_path"] for one in collected(text)][-1] == "/opt/hyperpod/records/*.jsonl"
        root = tmp_path / "root"
        assert (root / "opt/hyperpod/records-folder").read_text() == "/fsx/recovery\n"
        assert (root / "opt/hyperpod/gather_records.py").read_bytes() == GATHER.read_bytes()
        assert (root / "opt/hyperpod/records").stat().st_mode & 0o7777 == 0o700
        unit = (root / "etc/systemd/system/hyperpod-records.service").read_text()
        command = "/usr/bin/python3 -I -S /opt/hyperpod/gather_records.py /opt/hyperpod/records-folder"
        assert f"ExecStart={command} /opt/hyperpod/records\n" in unit
        states = {path.name for path in (root / "var/lib/stand-ins/systemd").iterdir()}
        assert {"hyperpod-records.timer.enabled", "hyperpod-records.timer.running"} <= states

    def test_other_groups_do_not(self, tmp_path: Path) -> None:
        text = self.taken(tmp_path, "worker, HyperPod configures Slurm", "controller")
        assert text is not None
        assert [one["file_path"] for one in collected(text)] == ["/var/log/slurm/slurmd.log"]
        assert not (tmp_path / "root/opt/hyperpod/records").exists()


class TestGathering:
    """The CloudWatch agent runs as root and follows links, and users write the folder of records."""

    @pytest.fixture
    def folders(self, tmp_path: Path) -> tuple[Path, Path]:
        folders = tmp_path / "recovery", tmp_path / "copies"
        for folder in folders:
            folder.mkdir()
        return folders

    def gather(self, folders: tuple[Path, Path], **changes: str) -> subprocess.CompletedProcess[str]:
        records, copies = folders
        said = records.parent / "records-folder"
        said.write_text(f"{records}\n")
        script = copies.parent / "gather.py"
        text = GATHER.read_text()
        for before, after in changes.items():
            (line,) = (line for line in text.splitlines() if line.startswith(f"{before} = "))
            text = text.replace(line, f"{before} = {after}")
        script.write_text(text)
        command = [sys.executable, "-I", "-S", str(script), str(said), str(copies)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_copies_what_was_added(self, folders: tuple[Path, Path]) -> None:
        records, copies = folders
        (records / "a.jsonl").write_text("1\n")
        (records / "other.txt").write_text("x\n")
        for added in ("", "2\n3\n", ""):
            with (records / "a.jsonl").open("a") as file:
                file.write(added)
            result = self.gather(folders)
            assert (result.returncode, result.stderr) == (0, "")
            assert (copies / "a.jsonl").read_text() == (records / "a.jsonl").read_text()
        assert [path.name for path in copies.iterdir()] == ["a.jsonl"]
        (records / "a.jsonl").write_text("new\n")
        assert self.gather(folders).returncode == 0
        assert (copies / "a.jsonl").read_text() == "new\n"
        (records / "a.jsonl").unlink()
        assert self.gather(folders).returncode == 0
        assert list(copies.iterdir()) == []

    def test_a_folder_that_is_not_there_yet(self, folders: tuple[Path, Path]) -> None:
        folders[0].rmdir()
        result = self.gather(folders)
        assert (result.returncode, result.stderr) == (0, "")

    def test_what_may_be_a_file_of_roots_is_left_out(self, folders: tuple[Path, Path]) -> None:
        records, copies = folders
        secret = records.parent / "secret"
        secret.write_text("key of munge\n")
        (records / "link.jsonl").symlink_to(secret)
        (records / "hard.jsonl").hardlink_to(secret)
        (records / "folder.jsonl").mkdir()
        os.mkfifo(records / "pipe.jsonl")
        (records / "a b.jsonl").write_text("x\n")
        (records / "good.jsonl").write_text("1\n")
        result = self.gather(folders)
        assert result.returncode == 1
        assert "link.jsonl: Too many levels of symbolic links" in result.stderr
        for name in ("hard", "folder", "pipe"):
            assert f"{name}.jsonl: no file, or one with several names" in result.stderr
        assert "'a b.jsonl' is no name of records" in result.stderr
        assert [path.name for path in copies.iterdir()] == ["good.jsonl"]

    def test_records_do_not_fill_the_volume(self, folders: tuple[Path, Path]) -> None:
        records, copies = folders
        for name, content in (("1", "old\n"), ("2", "12345678"), ("3", "1234")):
            (records / f"{name}.jsonl").write_text(content)
        result = self.gather(folders, MOST_BYTES_OF_A_FILE="6", MOST_BYTES="10")
        assert result.returncode == 1
        assert "what 2.jsonl has beyond" in result.stderr
        assert "1.jsonl and older ones" in result.stderr
        assert {path.name: path.read_text() for path in copies.iterdir()} == {
            "2.jsonl": "123456",
            "3.jsonl": "1234",
        }
