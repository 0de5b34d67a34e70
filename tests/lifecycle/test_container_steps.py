"""The steps that put containers and pods on the large volume of a node.

Docker, enroot, containerd and kubelet are stand-ins: files that they read, and services of the stand-in for
systemctl.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from node_scripts.machine import MACHINE, Scenario
from node_scripts.node import NEEDED, Node, last_line
from node_scripts.slurm_nodes import EKS_WORKER, WORKER

pytestmark = pytest.mark.needs_system(*NEEDED)

GOLDEN = Path(__file__).parent / "golden"
ROOT_ONLY = MACHINE["/proc/self/mounts"]
SECOND_VOLUME = ROOT_ONLY + "/dev/nvme1n1 /opt/sagemaker xfs rw 0 0\n"
PAUSE = "containerd/io.containerd.content.v1.content/blobs/sha256/pause"

FULL_DISK = """#!/bin/sh
# Stand-in for cp on a full disk.
echo "cp: error writing 'x': No space left on device" >&2
exit 1
"""

MakeNode = Callable[..., Node]


@pytest.fixture
def node_of(tmp_path: Path) -> MakeNode:
    """A node that knows what it is."""

    def _node_of(scenario: Scenario, *, mounts: str | None = None, **parameters: Any) -> Node:
        node = Node(
            tmp_path / "node", replace(scenario, parameters={**(scenario.parameters or {}), **parameters})
        )
        if mounts is not None:
            node.write("/proc/self/mounts", mounts)
        assert node.run("steps/identify_node.sh").returncode == 0
        return node

    return _node_of


def run(node: Node, step: str, **extra: str) -> str:
    result = node.run(f"steps/{step}.sh", **extra)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def fails(node: Node, step: str) -> str:
    result = node.run(f"steps/{step}.sh")
    assert result.returncode == 70, result.stdout
    line = last_line(result)
    assert f"FAILED in step '{step}': " in line
    assert "; remedy: " in line
    return line


class TestStoreContainers:
    def test_the_second_volume_where_there_is_no_instance_store(self, node_of: MakeNode) -> None:
        node = node_of(WORKER, mounts=SECOND_VOLUME)
        run(node, "store_containers")
        assert '"data-root": "/opt/sagemaker/docker"' in node.read("/etc/docker/daemon.json")
        assert "ENROOT_DATA_PATH /opt/sagemaker/enroot/data/user-" in node.read("/etc/enroot/enroot.conf")
        for folder in ("cache", "data", "tmp"):
            assert node.path(f"/opt/sagemaker/enroot/{folder}").stat().st_mode & 0o7777 == 0o1777

    def test_a_users_images_are_in_a_folder_of_their_own(self, node_of: MakeNode) -> None:
        """All may make names there, also that of somebody else."""
        node = node_of(WORKER, mounts=SECOND_VOLUME, users_file="/users.csv")
        node.write("/users.csv", "alice,2001,/home/alice\nbob,2002,/home/bob\n")
        other = node.path("/opt/sagemaker/enroot/data/user-2002")
        other.parent.mkdir(parents=True)
        other.symlink_to("/etc")
        said = run(node, "store_containers")
        owners = node.read("/var/lib/stand-ins/owners").splitlines()
        for kind in ("cache", "data"):
            assert f"2001:2001 /opt/sagemaker/enroot/{kind}/user-2001." in owners
            own = node.path(f"/opt/sagemaker/enroot/{kind}/user-2001")
            assert own.stat().st_mode & 0o7777 == 0o700
        assert "2002:2002 /opt/sagemaker/enroot/data/user-2002." not in owners
        assert (
            "remove what others made in a user's name: /opt/sagemaker/enroot/data/user-2002 belongs" in said
        )
        assert node.read("/opt/hyperpod/health/containers").startswith("warning ")

    @pytest.mark.needs_system("systemd-analyze", "mountpoint")
    def test_docker_waits_for_its_volume_at_a_boot(self, node_of: MakeNode, tmp_path: Path) -> None:
        node = node_of(WORKER, mounts=SECOND_VOLUME)
        run(node, "store_containers")
        text = node.read("/etc/systemd/system/docker.service.d/10-hyperpod.conf")
        unit = tmp_path / "docker.service"
        unit.write_text(text + "ExecStart=/bin/true\n")
        judged = subprocess.run(
            ["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False
        )
        assert (judged.returncode, judged.stderr) == (0, "")
        (line,) = (line for line in text.splitlines() if line.startswith("ExecStartPre="))
        command = shlex.split(line.removeprefix("ExecStartPre="))
        assert command[:2] == ["/usr/bin/timeout", "60"]
        for place, status in (("/opt/sagemaker", 124), ("/proc", 0)):
            tried = ["timeout", "0.3", *command[2:-1], command[-1].replace("/opt/sagemaker", place)]
            assert subprocess.run(tried, check=False).returncode == status

    def test_what_others_said_of_docker_stays(self, node_of: MakeNode) -> None:
        node = node_of(WORKER)
        node.write("/etc/docker/daemon.json", '{"runtimes": {"nvidia": {"path": "x"}}, "data-root": "/old"}')
        run(node, "store_containers")
        text = node.read("/etc/docker/daemon.json")
        assert '"path": "x"' in text
        assert "/old" not in text

    def test_docker_is_restarted_once(self, node_of: MakeNode) -> None:
        node = node_of(WORKER)
        run(node, "store_containers")
        started = node.read("/var/lib/stand-ins/systemd/docker.running")
        node.write("/etc/unrelated", "x\n")
        run(node, "store_containers")
        assert node.read("/var/lib/stand-ins/systemd/docker.running") == started

    def test_broken_json_is_not_overwritten(self, node_of: MakeNode) -> None:
        node = node_of(WORKER)
        node.write("/etc/docker/daemon.json", "{")
        assert "cannot read " in fails(node, "store_containers")
        assert node.read("/etc/docker/daemon.json") == "{"

    def test_without_a_large_volume_a_warning(self, node_of: MakeNode) -> None:
        node = node_of(WORKER, mounts=ROOT_ONLY, second_volume_groups=[])
        assert "WARNING: there is no large volume" in run(node, "store_containers")
        assert node.read("/etc/docker/daemon.json") == '{"log-driver": "local"}'
        assert node.read("/opt/hyperpod/health/containers").startswith("warning ")

    def test_a_second_volume_that_is_not_mounted_is_said(self, node_of: MakeNode) -> None:
        said = run(node_of(WORKER, mounts=ROOT_ONLY), "store_containers")
        assert "WARNING: nothing is mounted on /opt/sagemaker, where this group has its second volume" in said
        assert "WARNING: there is no large volume" in said

    def test_an_instance_store_that_is_late_is_said(self, node_of: MakeNode) -> None:
        node = node_of(WORKER, mounts=SECOND_VOLUME)
        node.write("/var/lib/stand-ins/systemd/dlami-nvme.enabled", "")
        assert "nothing is mounted on /opt/dlami/nvme" in run(node, "store_containers")

    def test_without_docker_and_enroot_nothing_is_made(self, node_of: MakeNode) -> None:
        node = node_of(replace(WORKER, files={**MACHINE, "/proc/self/mounts": SECOND_VOLUME}))
        node.without("dockerd")
        run(node, "store_containers")
        assert not node.path("/etc/docker").exists()
        assert not node.path("/etc/enroot").exists()

    def test_pyxis_that_somebody_set_up_stays(self, node_of: MakeNode) -> None:
        node = node_of(WORKER)
        node.write("/opt/slurm/etc/slurm.conf", "ClusterName=x\n")
        node.write("/opt/slurm/lib/slurm/spank_pyxis.so", "")
        node.write("/opt/slurm/etc/plugstack.conf", "required /usr/local/lib/slurm/spank_pyxis.so\n")
        assert "pyxis is in" in run(node, "store_containers")
        assert "BEGIN" not in node.read("/opt/slurm/etc/plugstack.conf")

    def test_kubernetes_has_its_own_step(self, node_of: MakeNode) -> None:
        assert "Kubernetes runs the containers" in run(node_of(EKS_WORKER), "store_containers")


class TestStorePods:
    @pytest.mark.parametrize("lost", ["the file", "the node in it"])
    def test_a_node_that_does_not_know_what_it_is(self, node_of: MakeNode, lost: str) -> None:
        """HyperPod documents resource_config.json for Slurm."""
        node = node_of(EKS_WORKER)
        if lost == "the file":
            node.path("/opt/ml/config/resource_config.json").unlink()
        else:
            node.write("/opt/ml/config/resource_config.json", '{"ClusterConfig": {}, "InstanceGroups": []}')
        result = node.run()
        assert result.returncode == 0, result.stdout
        assert "identify_node: WARNING: " in result.stdout
        assert node.path("/var/lib/kubelet").is_symlink()

    def test_images_and_volumes_move(self, node_of: MakeNode) -> None:
        node = node_of(EKS_WORKER)
        run(node, "store_pods")
        assert node.read(f"/opt/sagemaker/{PAUSE}") == "the image of pause\n"
        kubelet = node.path("/var/lib/kubelet")
        assert kubelet.is_symlink()
        assert kubelet.resolve() == node.path("/opt/sagemaker/kubelet").resolve()
        assert (kubelet / "config.json").read_text() == "{}\n"
        got = node.read("/etc/systemd/system/containerd.service.d/10-hyperpod.conf")
        assert got == (GOLDEN / "eks-containerd-drop-in.conf").read_text()

    def test_a_second_run_keeps_what_pods_wrote(self, node_of: MakeNode) -> None:
        node = node_of(EKS_WORKER)
        run(node, "store_pods")
        node.write("/var/lib/kubelet/pods/a/data", "precious\n")
        node.write("/opt/sagemaker/containerd/image", "pulled\n")
        for _ in range(2):
            run(node, "store_pods")
            assert node.read("/opt/sagemaker/kubelet/pods/a/data") == "precious\n"
            assert node.read("/opt/sagemaker/containerd/image") == "pulled\n"

    def test_a_kubelet_that_runs_is_let_be(self, node_of: MakeNode) -> None:
        node = node_of(EKS_WORKER)
        node.write("/var/lib/stand-ins/systemd/kubelet.running", "")
        assert "replace the node to move them" in run(node, "store_pods")
        assert not node.path("/var/lib/kubelet").is_symlink()
        assert not node.path("/opt/sagemaker/containerd").exists()

    def test_a_kubelet_that_runs_on_the_large_volume(self, node_of: MakeNode) -> None:
        node = node_of(EKS_WORKER)
        run(node, "store_pods")
        node.write("/var/lib/stand-ins/systemd/kubelet.running", "")
        assert "kubelet runs, with its data on" in run(node, "store_pods")

    def test_options_of_the_unit_stay(self, node_of: MakeNode) -> None:
        node = node_of(EKS_WORKER)
        unit = "[Service]\nExecStart=/usr/bin/containerd --log-level warn\n"
        node.write("/usr/lib/systemd/system/containerd.service", unit)
        run(node, "store_pods")
        drop_in = node.read("/etc/systemd/system/containerd.service.d/10-hyperpod.conf")
        assert "ExecStart=/usr/bin/containerd --log-level warn --root /opt/sagemaker/containerd\n" in drop_in

    def test_no_unit(self, node_of: MakeNode) -> None:
        node = node_of(EKS_WORKER)
        node.path("/usr/lib/systemd/system/containerd.service").unlink()
        assert "no containerd.service says how containerd starts" in fails(node, "store_pods")

    def test_a_unit_of_several_lines(self, node_of: MakeNode) -> None:
        node = node_of(EKS_WORKER)
        unit = "[Service]\nExecStart=/usr/bin/containerd \\\n  --log-level warn\n"
        node.write("/usr/lib/systemd/system/containerd.service", unit)
        assert "in several lines" in fails(node, "store_pods")

    def test_without_a_large_volume_a_warning(self, node_of: MakeNode) -> None:
        node = node_of(EKS_WORKER, mounts=ROOT_ONLY, second_volume_groups=[])
        assert "WARNING: there is no large volume" in run(node, "store_pods")
        assert not node.path("/var/lib/kubelet").is_symlink()

    def test_a_full_volume(self, node_of: MakeNode) -> None:
        node = node_of(EKS_WORKER)
        node.replace("cp", FULL_DISK)
        assert "free space on the file system of" in fails(node, "store_pods")
        assert node.read("/var/lib/kubelet/config.json") == "{}\n"

    def test_slurm_has_no_pods(self, node_of: MakeNode) -> None:
        assert "no pods run here" in run(node_of(WORKER), "store_pods")
