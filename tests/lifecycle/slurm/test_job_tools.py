"""What the nodes of a Slurm cluster get for jobs and operators."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hyperpod_charts.slurm_batch import JOB_ENTRY
from hyperpod_lifecycle.scripts_folder import scripts_folder
from hyperpod_model.catalog.nodes import REBOOT_REASON, REPLACE_REASON

pytestmark = pytest.mark.needs_system("bash", "timeout")

RECOVER = scripts_folder() / "job" / "recover_node.sh"


def install(root: Path, orchestrator: str) -> subprocess.CompletedProcess[str]:
    bundle = root / "bundle"
    if not bundle.exists():
        subprocess.run(["cp", "-r", scripts_folder(), bundle], check=True)
    (bundle / "parameters.json").write_text(f'{{"orchestrator": "{orchestrator}"}}')
    return subprocess.run(
        ["bash", bundle / "steps" / "install_job_tools.sh"],
        env={"PATH": "/usr/bin:/bin", "PROVISION_ROOT": str(root), "PROVISION_SHIPPING_SECONDS": "0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_entry_is_where_batch_files_look_for_it(tmp_path: Path) -> None:
    done = install(tmp_path, "slurm")
    assert done.returncode == 0, done.stdout + done.stderr
    installed = tmp_path / JOB_ENTRY.removeprefix("/")
    assert installed.read_bytes() == (scripts_folder() / "job" / "train_entry.sh").read_bytes()
    assert installed.stat().st_mode & 0o777 == 0o755
    assert (installed.parent / "recover_node.sh").stat().st_mode & 0o777 == 0o755


def test_nodes_of_eks_get_none(tmp_path: Path) -> None:
    done = install(tmp_path, "eks")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / JOB_ENTRY.removeprefix("/")).exists()


@pytest.mark.parametrize("entry_point", ["on_create.sh", "on_init_complete.sh"])
def test_every_way_to_configure_slurm_installs_them(entry_point: str) -> None:
    assert "install_job_tools" in (scripts_folder() / entry_point).read_text()


def recover(
    folder: Path, *arguments: str, node: str = "NodeName=ip-10-1-2-3 State=IDLE Reason=none"
) -> subprocess.CompletedProcess[str]:
    """Run the tool with a stand-in for scontrol that knows one node and writes down what it is told."""
    (folder / "node").write_text(node + "\n")
    program = folder / "scontrol"
    program.write_text(
        "#!/bin/bash\n"
        f'if [[ $1 == update ]]; then printf "%s\\n" "$@" >{folder}/updated; exit; fi\n'
        f'[[ $4 == ip-10-1-2-3 ]] && exec cat {folder}/node\necho "Node $4 not found" >&2; exit 1\n'
    )
    program.chmod(0o755)
    return subprocess.run(
        ["bash", RECOVER, *arguments],
        env={"PATH": f"{folder}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(("action", "reason"), [("replace", REPLACE_REASON), ("reboot", REBOOT_REASON)])
def test_a_repair_is_asked_for_letter_by_letter(tmp_path: Path, action: str, reason: str) -> None:
    done = recover(tmp_path, action, "ip-10-1-2-3")
    assert done.returncode == 0, done.stderr
    told = (tmp_path / "updated").read_text().splitlines()
    assert told == ["update", "node=ip-10-1-2-3", "state=fail", f"reason={reason}"]
    assert f"asked for {reason} of ip-10-1-2-3" in done.stdout


def test_a_node_that_failed_for_another_reason_can_be_repaired(tmp_path: Path) -> None:
    node = "NodeName=ip-10-1-2-3 State=IDLE+FAIL Reason=action:replace [root@2026-11-01T10:00:00]"
    assert recover(tmp_path, "replace", "ip-10-1-2-3", node=node).returncode == 0
    assert (tmp_path / "updated").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "usage: recover_node.sh replace|reboot NODE"),
        (("Replace", "ip-10-1-2-3"), "'Replace' is neither replace nor reboot"),
        (("replace", "ip-10-1-2-[3-9]"), "is no name of one node"),
        (("replace", "ip-10-1-2-4"), "Slurm knows no node ip-10-1-2-4: Node ip-10-1-2-4 not found"),
    ],
)
def test_what_is_no_repair_is_refused(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = recover(tmp_path, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "updated").exists()


def test_a_repair_that_is_under_way_is_left_alone(tmp_path: Path) -> None:
    node = "NodeName=ip-10-1-2-3 State=DOWN+FAIL Reason=Action:Reboot [root@2026-11-01T10:00:00]"
    done = recover(tmp_path, "replace", "ip-10-1-2-3", node=node)
    assert done.returncode == 2
    assert "Action:Reboot of ip-10-1-2-3 is under way; wait" in done.stderr
    assert not (tmp_path / "updated").exists()
