"""The steps that configure and start Slurm: what they render, and when they leave a running slurmctld alone.

The node's programs are the stand-ins of :mod:`node_scripts`; Slurm's own parser and slurmctld judge what is
rendered.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from node_scripts.machine import Scenario
from node_scripts.node import NEEDED, Node, last_line
from node_scripts.slurm_nodes import CONTROLLER, EMPTY_TOPOLOGY, LOGIN, PARAMETERS, SLURM, SLURM_CONF, WORKER

pytestmark = pytest.mark.needs_system(*NEEDED)

GOLDEN = Path(__file__).parent / "golden"
SLURM_STEPS = ("configure_slurm", "guard_topology", "set_up_accounting", "start_slurm")

STAND_INS = Path(__file__).parents[1] / "plugins" / "node_scripts" / "stand_ins"

NO_DATABASE_NO_SLURMCTLD = f"""#!/bin/sh
# Stand-in for systemctl that starts no slurmctld before the database of its accounting is there.
case $* in *slurmctld*) [ -e "$PROVISION_ROOT/var/lib/stand-ins/database" ] || exit 1 ;; esac
exec {STAND_INS}/systemctl "$@"
"""

MUTE_SLURMCTLD = f"""#!/bin/sh
# Stand-in for scontrol of a slurmctld that says nothing about nodes.
case $* in *node*) exit 1 ;; esac
exec {STAND_INS}/scontrol "$@"
"""

NO_CONFIGURATION = """#!/bin/sh
# Stand-in for scontrol that reaches the controller and has no configuration of its own.
[ -n "${SLURM_CONF_SERVER:-}" ]
"""

MakeNode = Callable[..., Node]


@pytest.fixture
def node_of(tmp_path: Path) -> MakeNode:
    """A node that knows what it is."""

    def _node_of(scenario: Scenario, **slurm: Any) -> Node:
        parameters = {**PARAMETERS, "slurm": {**SLURM, **slurm}}
        folder = tmp_path / f"node-{len(list(tmp_path.iterdir()))}"
        node = Node(folder, replace(scenario, parameters=parameters))
        run(node, "identify_node")
        return node

    return _node_of


def run(node: Node, *steps: str) -> str:
    """Run steps that end well; return what they said."""
    said = ""
    for step in steps:
        result = node.run(f"steps/{step}.sh")
        assert result.returncode == 0, result.stdout + result.stderr
        said += result.stdout
    return said


def fails(node: Node, step: str) -> str:
    """Run a step that fails, and return its last line."""
    result = node.run(f"steps/{step}.sh")
    assert result.returncode == 70, result.stdout
    line = last_line(result)
    assert f"FAILED in step '{step}': " in line
    assert "; remedy: " in line
    return line


def golden(node: Node, path: str, name: str) -> None:
    """Compare a file of a node with what people have looked at; nothing writes the latter."""
    got = node.read(path).replace(str(node.root), "")
    assert got == (GOLDEN / name).read_text(), f"{path} is not tests/lifecycle/golden/{name}"


class TestRendered:
    def test_on_the_controller(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        run(node, "store_containers", *SLURM_STEPS)
        for name in ("slurm.conf", "accounting.conf", "gres.conf", "slurmdbd.conf", "plugstack.conf"):
            golden(node, f"/opt/slurm/etc/{name}", f"controller-{name}")
        golden(
            node,
            "/etc/systemd/system/slurmctld.service.d/10-hyperpod-topology.conf",
            "controller-slurmctld-drop-in.conf",
        )
        assert not node.path("/opt/slurm/etc/topology.yaml").exists()
        assert node.path("/opt/slurm/etc/slurmdbd.conf").stat().st_mode & 0o777 == 0o600

    def test_on_a_worker(self, node_of: MakeNode) -> None:
        node = node_of(WORKER)
        run(node, "store_containers", *SLURM_STEPS)
        golden(node, "/etc/docker/daemon.json", "worker-daemon.json")
        golden(node, "/etc/enroot/enroot.conf", "worker-enroot.conf")
        golden(node, "/etc/systemd/system/docker.service.d/10-hyperpod.conf", "worker-docker-drop-in.conf")
        golden(node, "/etc/systemd/system/slurmd.service.d/10-hyperpod.conf", "worker-slurmd-drop-in.conf")
        assert not node.path("/opt/slurm/etc").exists()

    def test_a_replaced_controller_is_followed(self, node_of: MakeNode) -> None:
        node = node_of(WORKER)
        run(node, "start_slurm")
        started = node.read("/var/lib/stand-ins/systemd/slurmd.running")
        config = node.read("/opt/ml/config/resource_config.json").replace("10.1.0.10", "10.1.0.77")
        node.write("/opt/ml/config/resource_config.json", config)
        run(node, "start_slurm")
        drop_in = node.read("/etc/systemd/system/slurmd.service.d/10-hyperpod.conf")
        assert "--conf-server 10.1.0.77" in drop_in
        assert node.read("/var/lib/stand-ins/systemd/slurmd.running") != started

    def test_settings_that_are_taken_back_leave_nothing(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER, accounting=False, settings=["KillWait=60"])
        node.write("/opt/slurm/etc/slurm.conf", SLURM_CONF.replace(" Gres=gpu:8", ""))
        run(node, "configure_slurm")
        assert "#hyperpod# KillWait=30" in node.read("/opt/slurm/etc/slurm.conf")
        node.set_parameters({**PARAMETERS, "slurm": {**SLURM, "accounting": False, "settings": []}})
        run(node, "configure_slurm")
        assert node.read("/opt/slurm/etc/slurm.conf") == SLURM_CONF.replace(" Gres=gpu:8", "") + "\n"
        assert node.read("/opt/slurm/etc/accounting.conf") == ""

    def test_others_lines_of_the_included_file_stay(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        node.write("/opt/slurm/etc/accounting.conf", "JobCompType=jobcomp/filetxt\nGresTypes=gpu")
        run(node, "configure_slurm")
        text = node.read("/opt/slurm/etc/accounting.conf")
        assert text.startswith("JobCompType=jobcomp/filetxt\nGresTypes=gpu\n# BEGIN hyperpod settings\n")
        assert text.count("GresTypes") == 1

    def test_a_block_that_lost_its_end_takes_nothing_with_it(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        run(node, "configure_slurm")
        before = node.read("/opt/slurm/etc/accounting.conf")
        broken = before.replace("# END hyperpod settings\n", "DebugFlags=Steps\n")
        assert broken != before
        node.write("/opt/slurm/etc/accounting.conf", broken)
        run(node, "configure_slurm")
        assert "DebugFlags=Steps\n" in node.read("/opt/slurm/etc/accounting.conf")

    @pytest.mark.needs_system("chown")
    def test_slurm_conf_stays_slurms_own(self, node_of: MakeNode) -> None:
        """Slurmctld does not run as root, and may be the only one to read it."""
        # Only root can give files away: for anybody else the file stays their own.
        node = node_of(CONTROLLER)
        conf = node.path("/opt/slurm/etc/slurm.conf")
        conf.chmod(0o640)
        if os.geteuid() == 0:
            os.chown(conf, 4242, 4343)
        real = shutil.which("chown")
        assert real is not None
        node.without("chown")
        (node.programs / "chown").symlink_to(real)
        status = conf.stat()
        run(node, "configure_slurm")
        changed = conf.stat()
        assert changed.st_ino != status.st_ino
        assert (changed.st_uid, changed.st_gid) == (status.st_uid, status.st_gid)
        assert changed.st_mode == status.st_mode

    def test_a_gres_file_of_hyperpod_stays(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        node.write("/opt/slurm/etc/gres.conf", "AutoDetect=nvml\n")
        run(node, "configure_slurm")
        assert node.read("/opt/slurm/etc/gres.conf") == "AutoDetect=nvml\n"

    def test_carriage_returns_are_mended(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        node.write("/opt/slurm/etc/slurm.conf", SLURM_CONF.replace("\n", "\r\n"))
        run(node, *SLURM_STEPS)
        assert "\r" not in node.read("/opt/slurm/etc/slurm.conf")

    def test_an_include_is_added_before_the_nodes(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        node.write("/opt/slurm/etc/slurm.conf", SLURM_CONF.replace("Include accounting.conf\n", ""))
        run(node, "configure_slurm")
        assert "Include accounting.conf\nNodeName=" in node.read("/opt/slurm/etc/slurm.conf")

    def test_login_nodes_get_the_configuration_of_a_slurmd_that_ends(self, node_of: MakeNode) -> None:
        node = node_of(LOGIN)
        node.write("/var/lib/stand-ins/systemd/slurmd.broken", "")
        said = run(node, *SLURM_STEPS)
        assert "Slurm's commands have the configuration of the controller 10.1.0.10" in said
        drop_in = node.read("/etc/systemd/system/slurmd.service.d/10-hyperpod.conf")
        assert drop_in == (GOLDEN / "worker-slurmd-drop-in.conf").read_text()

    def test_login_nodes_whose_commands_have_no_configuration(self, node_of: MakeNode) -> None:
        node = node_of(LOGIN)
        node.replace("scontrol", NO_CONFIGURATION)
        assert "Slurm's commands have no configuration on this node" in fails(node, "start_slurm")


class TestRunningController:
    """A slurmctld that runs is told of new files, or not, and never restarted."""

    @pytest.fixture
    def node(self, node_of: MakeNode) -> Node:
        node = node_of(CONTROLLER)
        run(node, *SLURM_STEPS)
        node.set_parameters({**PARAMETERS, "slurm": {**SLURM, "settings": ["KillWait=90"]}})
        return node

    def read_again(self, node: Node) -> bool:
        return node.path("/var/lib/stand-ins/slurm-has-read").exists()

    def test_is_told(self, node: Node) -> None:
        started = node.read("/var/lib/stand-ins/systemd/slurmctld.running")
        assert "slurmctld has read its files again" in run(node, *SLURM_STEPS)
        assert self.read_again(node)
        assert node.read("/var/lib/stand-ins/systemd/slurmctld.running") == started
        assert "has read" not in run(node, *SLURM_STEPS)

    @pytest.mark.parametrize(
        "line",
        [
            "NodeName=ip-10-1-1-2 State=IDLE+FAIL Reason=Action:Replace [root@2026-11-01T00:00:00]",
            "NodeName=ip-10-1-1-2 State=FAILING ThreadsPerCore=1",
            "NodeName=ip-10-1-1-2 State=DOWN Reason=Action:Reboot [root@2026-11-01T00:00:00]",
            "NodeName=ip-10-1-1-2 State=IDLE+REBOOT ThreadsPerCore=1",
            "NodeName=ip-10-1-1-2 State=IDLE ActiveFeatures=SageMakerDeepHealthCheck:InProgress",
        ],
    )
    def test_is_left_alone_while_hyperpod_is_at_work_on_a_node(self, node: Node, line: str) -> None:
        nodes = f"NodeName=ip-10-1-1-1 State=ALLOCATED Comment=Action:None\n{line}\n"
        node.write("/var/lib/stand-ins/slurm-nodes", nodes)
        said = run(node, *SLURM_STEPS)
        assert "WARNING: HyperPod is at work on ip-10-1-1-2: slurmctld is not told of its new files" in said
        assert not self.read_again(node)
        node.path("/var/lib/stand-ins/slurm-nodes").unlink()
        run(node, "start_slurm")
        assert self.read_again(node)

    def test_is_told_while_nodes_are_only_busy(self, node: Node) -> None:
        nodes = "NodeName=ip-10-1-1-1 State=ALLOCATED\nNodeName=ip-10-1-1-2 State=DOWN* Reason=None\n"
        node.write("/var/lib/stand-ins/slurm-nodes", nodes)
        run(node, *SLURM_STEPS)
        assert self.read_again(node)

    def test_that_does_not_say_is_left_alone(self, node: Node) -> None:
        node.replace("scontrol", MUTE_SLURMCTLD)
        assert "slurmctld does not answer, so nobody knows" in run(node, *SLURM_STEPS)
        assert not self.read_again(node)

    def test_that_refuses_its_files_is_a_failure(self, node: Node) -> None:
        node.write("/var/lib/stand-ins/slurm-refuses", "")
        run(node, *SLURM_STEPS[:-1])
        assert "slurmctld refuses its new files: slurm_reconfigure error" in fails(node, "start_slurm")

    def test_of_hyperpod_is_told_of_what_the_guard_changed(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        node.set_parameters({"orchestrator": "slurm"})
        node.write("/var/lib/stand-ins/systemd/slurmctld.running", "")
        said = run(node, *SLURM_STEPS)
        assert "from the next start of slurmctld on" in said
        assert "HyperPod starts Slurm" in said
        assert self.read_again(node)


class TestAccounting:
    def test_is_there_before_slurmctld_starts(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        node.replace("systemctl", NO_DATABASE_NO_SLURMCTLD)
        run(node, *SLURM_STEPS)

    def test_has_no_password(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        run(node, "configure_slurm", "set_up_accounting")
        assert "IDENTIFIED VIA unix_socket" in node.read("/var/lib/stand-ins/database")
        assert "StoragePass" not in node.read("/opt/slurm/etc/slurmdbd.conf")

    def test_is_not_added_to_a_running_cluster(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER, accounting=False)
        run(node, *SLURM_STEPS)
        node.set_parameters({**PARAMETERS, "slurm": SLURM})
        assert "accounting cannot be added to a running cluster" in fails(node, "configure_slurm")
        assert "slurmdbd" not in node.read("/opt/slurm/etc/accounting.conf")

    def test_without_it_there_is_no_database(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER, accounting=False)
        assert "no accounting" in run(node, *SLURM_STEPS)
        assert not node.path("/var/lib/stand-ins/database").exists()

    def test_needs_its_programs(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        node.without("mysql")
        assert "there is no mysql on this node" in fails(node, "set_up_accounting")

    @pytest.mark.parametrize(
        ("broken", "problem"),
        [
            ("mariadb", "the service mariadb does not start"),
            ("slurmdbd", "the service slurmdbd does not start"),
        ],
    )
    def test_a_service_that_does_not_start(self, node_of: MakeNode, broken: str, problem: str) -> None:
        node = node_of(CONTROLLER)
        node.write(f"/var/lib/stand-ins/systemd/{broken}.broken", "")
        assert problem in fails(node, "set_up_accounting")

    def test_slurmdbd_that_does_not_answer(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        node.replace("sacctmgr", "#!/bin/sh\nexit 1\n")
        assert "slurmdbd runs and does not answer" in fails(node, "set_up_accounting")


class TestFailures:
    def test_hyperpod_has_not_written_slurm_conf(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        node.path("/opt/slurm/etc/slurm.conf").unlink()
        assert "provisioning_parameters.json at the top" in fails(node, "configure_slurm")
        assert not node.path("/opt/slurm/etc/slurm.conf").exists()

    def test_slurm_conf_of_another_controller(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        node.write("/opt/slurm/etc/slurm.conf", SLURM_CONF.replace("10.1.0.10", "10.1.0.99"))
        assert "does not name the controller 10.1.0.10" in fails(node, "configure_slurm")

    def test_a_group_without_a_role(self, node_of: MakeNode) -> None:
        node = node_of(WORKER, worker_groups=["others"])
        assert "the group workers of this node has no role in Slurm" in fails(node, "start_slurm")

    def test_a_controller_that_does_not_answer(self, node_of: MakeNode) -> None:
        node = node_of(WORKER)
        node.write("/var/lib/stand-ins/slurmctld-away", "")
        line = fails(node, "start_slurm")
        assert "the controller 10.1.0.10 does not answer on TCP 6817" in line
        assert not node.path("/var/lib/stand-ins/systemd/slurmd.running").exists()

    def test_a_controller_that_was_not_created(self, node_of: MakeNode) -> None:
        node = node_of(WORKER, controller_group="others")
        assert "the group others of the controller has no instance" in fails(node, "start_slurm")

    def test_slurmctld_that_does_not_start(self, node_of: MakeNode) -> None:
        node = node_of(CONTROLLER)
        node.write("/var/lib/stand-ins/systemd/slurmctld.broken", "")
        run(node, *SLURM_STEPS[:-1])
        assert "the service slurmctld does not start" in fails(node, "start_slurm")


class TestTopologyGuard:
    @pytest.mark.parametrize(
        ("conf", "files"),
        [
            (SLURM_CONF, {}),
            (EMPTY_TOPOLOGY, {"topology.conf": "SwitchName=s1 Nodes=ip-10-1-1-[1-2]\n"}),
            (EMPTY_TOPOLOGY, {"topology.yaml": "- topology: tree\n", "topology.conf": ""}),
        ],
        ids=["none asked for", "topology.conf", "topology.yaml"],
    )
    def test_lets_be_what_is_described(self, node_of: MakeNode, conf: str, files: dict[str, str]) -> None:
        node = node_of(CONTROLLER)
        for name in ("topology.yaml", "topology.conf"):
            node.path(f"/opt/slurm/etc/{name}").unlink()
        for name, text in {"slurm.conf": conf + "\n", **files}.items():
            node.write(f"/opt/slurm/etc/{name}", text)
        assert "the topology is described, or none is asked for" in run(node, "guard_topology")
        assert node.read("/opt/slurm/etc/slurm.conf") == conf + "\n"

    def test_before_each_start_does_the_same(self, node_of: MakeNode) -> None:
        """What systemd runs before slurmctld, after HyperPod wrote such a file again."""
        node = node_of(CONTROLLER)
        run(node, "guard_topology")
        expected = node.read("/opt/slurm/etc/slurm.conf")
        node.write("/opt/slurm/etc/slurm.conf", EMPTY_TOPOLOGY)
        node.path("/opt/slurm/etc/slurm.conf").chmod(0o640)
        node.write("/opt/slurm/etc/topology.yaml", "[]\n")
        guard = node.path("/opt/hyperpod/slurm_files.py")
        conf = node.path("/opt/slurm/etc/slurm.conf")
        for _ in range(2):
            subprocess.run(["python3", "-I", str(guard), "guard-topology", str(conf)], check=True, timeout=60)
            assert conf.read_text() == expected
            assert conf.stat().st_mode & 0o777 == 0o640
            assert not node.path("/opt/slurm/etc/topology.yaml").exists()


def local_copy(node: Node, folder: Path) -> Path:
    """Slurm's configuration of a node, changed only so that a slurmctld can run with it here."""
    etc = folder / "etc"
    shutil.copytree(node.path("/opt/slurm/etc"), etc)
    conf = etc / "slurm.conf"
    text = conf.read_text().replace("SlurmctldHost=ip-10-1-0-10(10.1.0.10)", "SlurmctldHost=localhost")
    text = text.replace("State=CLOUD", "State=UNKNOWN NodeAddr=127.0.0.1").replace("auth/munge", "auth/none")
    for name in ("StateSaveLocation", "SlurmdSpoolDir", "SlurmctldLogFile", "SlurmdLogFile"):
        text = re.sub(rf"{name}=\S+", f"{name}={folder}/{name}", text)
    (folder / "StateSaveLocation").mkdir()
    text += f"CredType=cred/none\nSlurmctldPort=26817\nSlurmctldPidFile={folder}/pid\n"
    text += "MailProg=/bin/true\nMpiDefault=none\n"
    conf.write_text(text.replace("SlurmUser=slurm", "SlurmUser=root"))
    return conf


@pytest.mark.needs_system("scontrol")
@pytest.mark.parametrize("accounting", [True, False])
def test_slurms_own_parser_takes_what_is_rendered(
    node_of: MakeNode, tmp_path: Path, accounting: bool
) -> None:
    node = node_of(CONTROLLER, accounting=accounting, settings=["KillWait=60"])
    run(node, *SLURM_STEPS)
    conf = local_copy(node, tmp_path / "local")
    result = subprocess.run(
        ["scontrol", "show", "hostnames", "ip-10-1-1-[1-2]"],
        env={**os.environ, "SLURM_CONF": str(conf)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.split() == ["ip-10-1-1-1", "ip-10-1-1-2"]


@pytest.mark.needs_system("slurmctld")
def test_slurmctld_starts_with_what_is_rendered(node_of: MakeNode, tmp_path: Path) -> None:
    node = node_of(CONTROLLER, accounting=False, settings=["KillWait=60"])
    run(node, *SLURM_STEPS)
    conf = local_copy(node, tmp_path / "local")
    log = tmp_path / "local" / "SlurmctldLogFile"
    process = subprocess.Popen(
        ["slurmctld", "-D", "-c", "-f", str(conf)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 60
        while not (log.exists() and "Running as primary controller" in log.read_text()):
            assert process.poll() is None, log.read_text() if log.exists() else "no log"
            assert time.monotonic() < deadline, log.read_text() if log.exists() else "no log"
            time.sleep(0.1)
    finally:
        process.kill()
        process.wait()
    said = log.read_text()
    assert "No switches configured" not in said
    assert "specified more than once" not in said
    assert "fatal" not in said
