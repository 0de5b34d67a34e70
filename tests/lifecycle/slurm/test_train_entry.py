"""The job entry on one node, with a stand-in for ``scontrol`` whose answers have the form of Slurm 22.05's.

What Slurm itself answers, ``test_real_slurm.py`` shows.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from hyperpod_lifecycle.scripts_folder import scripts_folder

pytestmark = pytest.mark.needs_system("bash", "timeout", "flock", "stat", "sha256sum")

ENTRY = scripts_folder() / "job" / "train_entry.sh"

STEP = (
    "StepId={job}.{step} UserId=0 StartTime=2026-11-01T10:00:00 TimeLimit=UNLIMITED State=RUNNING "
    "Partition=dev NodeList={list} Nodes={count} CPUs=12 Name=train NodeList=none Network=(null)\n"
)
JOB = (
    "JobId={job}{array} JobName={name}\n   UserId=root(0) GroupId=root(0)\n   Requeue=1 Restarts=0\n"
    "   ReqNodeList=(null) ExcNodeList=(null)\n   NodeList={list}\n   BatchHost=ip-10-1-2-3\n"
    "   NumNodes={count} NumCPUs=12 NumTasks=3 CPUs/Task=1\n\n"
)


class Node:
    """A node of a step, on which every program but bash's helpers is a stand-in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers = folder / "answers"
        self.programs = folder / "programs"
        self.answers.mkdir()
        self.programs.mkdir()
        # The answers come from files: a list of 10,000 nodes fits into no argument.
        self.program(
            "scontrol",
            f'echo "$*" >>{folder}/asked\n'
            f'while [ "${{1#--}}" != "$1" ]; do shift; done\n'
            f"exec cat {self.answers}/$2-$3",
        )
        self.program("torchrun", 'printf "%s\\n" "launcher: torchrun $*"; exec env')
        self.program("whole", 'printf "%s\\n" "launcher: whole $*"; exec env')
        self.environment = {
            "PATH": f"{self.programs}:/usr/local/bin:/usr/bin:/bin",
            "TRAIN_ENTRY_PAUSE": "0",
            "SLURM_JOB_ID": "12",
            "SLURM_STEP_ID": "0",
            "SLURM_JOB_NAME": "llama",
            "SLURMD_NODENAME": "ip-10-1-2-3",
            "HYPERPOD_IMAGE_FOLDER": str(folder / "images"),
        }

    def program(self, name: str, script: str) -> None:
        file = self.programs / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def answer(self, kind: str, name: str, text: str) -> None:
        (self.answers / f"{kind}-{name}").write_text(text)

    def step(self, nodes: str, count: int, *, job: str = "12", step: str = "0") -> None:
        text = STEP.format(job=job, step=step, list=nodes, count=count)
        self.answer("step", f"{job}.{step}", text)

    def addresses(self, **of: str) -> None:
        for node, address in of.items():
            name = node.replace("_", "-")
            self.answer(
                "node",
                name,
                f"NodeName={name} Arch=x86_64\n   Gres=gpu:8\n   NodeAddr={address} NodeHostName={name}\n",
            )

    def run(
        self, *arguments: str, environment: Mapping[str, str | None] | None = None
    ) -> subprocess.CompletedProcess[str]:
        changed = {**self.environment, **({} if environment is None else environment)}
        return subprocess.run(
            ["bash", ENTRY, *arguments],
            env={name: value for name, value in changed.items() if value is not None},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def launched(self, *arguments: str, **environment: str) -> dict[str, str]:
        done = self.run(*arguments, environment=environment)
        assert done.returncode == 0, done.stderr
        first, *lines = done.stdout.splitlines()
        assert first.startswith("launcher: "), done.stdout
        said = dict(line.split("=", 1) for line in lines if "=" in line)
        return {"launcher": first.removeprefix("launcher: "), **said}

    @property
    def asked(self) -> Sequence[str]:
        return (self.folder / "asked").read_text().splitlines()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_torchrun_gets_the_live_nodes_and_not_those_of_the_environment(node: Node) -> None:
    node.step("ip-10-1-2-[3,5]", 2)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    got = node.launched(
        *("--processes-per-node", "8", "--", "train.py", "--steps", "10"),
        SLURM_JOB_NODELIST="ip-10-1-2-[3-4]",
        SLURM_JOB_NUM_NODES="7",
        SLURM_NNODES="7",
    )
    assert got["launcher"] == "torchrun train.py --steps 10"
    assert got["PET_NNODES"] == got["SLURM_JOB_NUM_NODES"] == got["SLURM_NNODES"] == "2"
    assert got["PET_NPROC_PER_NODE"] == "8"
    assert got["PET_RDZV_BACKEND"] == "c10d"
    assert got["PET_RDZV_ENDPOINT"] == "10.1.2.3:29872"
    assert got["PET_RDZV_ID"] == "12-0-0"
    assert got["PET_RDZV_CONF"] == "is_host=1,join_timeout=1800,read_timeout=900"
    assert got["SLURM_JOB_NODELIST"] == "ip-10-1-2-[3,5]"


def test_the_log_tells_what_was_stale(node: Node) -> None:
    node.step("ip-10-1-2-[3,5]", 2)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    stale = node.run("--", "x", environment={"SLURM_JOB_NODELIST": "ip-10-1-2-[3-4]"})
    assert stale.stderr.endswith(" on ip-10-1-2-3; the environment names ip-10-1-2-[3-4]\n")
    right = node.run("--", "x", environment={"SLURM_JOB_NODELIST": "ip-10-1-2-[3,5]"})
    assert right.stderr.endswith(" on ip-10-1-2-3\n")


def test_only_the_first_node_hosts_the_meeting(node: Node) -> None:
    node.step("ip-10-1-2-[3,5]", 2)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    got = node.launched("--", "train.py", SLURMD_NODENAME="ip-10-1-2-5")
    assert got["PET_RDZV_CONF"].startswith("is_host=0,")
    assert got["PET_RDZV_ENDPOINT"].startswith("10.1.2.3:")


def test_a_requeued_job_meets_under_another_name(node: Node) -> None:
    node.step("ip-10-1-2-3", 1)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    assert node.launched("--", "train.py", SLURM_RESTART_COUNT="2")["PET_RDZV_ID"] == "12-0-2"


def test_steps_of_one_job_meet_at_ports_of_their_own(node: Node) -> None:
    node.addresses(ip_10_1_2_3="10.1.2.3", ip_10_1_2_9="10.1.2.9")
    node.step("ip-10-1-2-[3-4]", 2, step="0")
    node.step("ip-10-1-2-[9-10]", 2, step="1")
    endpoints = {
        step: node.launched("--", "train.py", SLURM_STEP_ID=step)["PET_RDZV_ENDPOINT"] for step in "01"
    }
    assert endpoints == {"0": "10.1.2.3:29872", "1": "10.1.2.9:29873"}
    assert node.launched("--port", "4444", "--", "train.py")["PET_RDZV_ENDPOINT"] == "10.1.2.3:4444"


def test_the_first_job_of_an_array_takes_its_own_nodes(node: Node) -> None:
    # Asked for its id, which is the array's, scontrol shows every job of the array.
    node.answer(
        "job",
        "12",
        JOB.format(job=13, array=" ArrayJobId=12 ArrayTaskId=1", name="x", list="ip-10-1-2-[7-8]", count=9)
        + JOB.format(
            job=12, array=" ArrayJobId=12 ArrayTaskId=2", name="a NodeList=b", list="ip-10-1-2-[4-5]", count=2
        )
        + JOB.format(job=14, array=" ArrayJobId=12 ArrayTaskId=0", name="x", list="ip-10-1-2-9", count=1),
    )
    node.addresses(ip_10_1_2_4="10.1.2.4")
    got = node.launched("--", "train.py", SLURM_ARRAY_JOB_ID="12", SLURM_ARRAY_TASK_ID="2")
    assert got["PET_NNODES"] == "2"
    assert got["PET_RDZV_ENDPOINT"].startswith("10.1.2.4:")


HETEROGENEOUS = {"SLURM_HET_SIZE": "2", "SLURM_JOB_ID_HET_GROUP_0": "12", "SLURM_JOB_ID_HET_GROUP_1": "13"}


@pytest.mark.parametrize(
    ("components", "count", "first"),
    [
        ({"12": ("ip-10-1-2-3", 1)}, 1, "ip-10-1-2-3"),
        ({"13": ("ip-10-1-2-[4-5]", 2)}, 2, "ip-10-1-2-4"),
        ({"12": ("ip-10-1-2-3", 1), "13": ("ip-10-1-2-[4-5]", 2)}, 3, "ip-10-1-2-3"),
    ],
    ids=["first component", "second component", "both"],
)
def test_a_step_of_a_heterogeneous_job_has_nodes_of_its_components(
    node: Node, components: dict[str, tuple[str, int]], count: int, first: str
) -> None:
    """In such a step, SLURM_JOB_ID is that of the first component, whichever the step is on."""
    for job, (nodes, number) in components.items():
        node.step(nodes, number, job=job)
    node.answer("job", "12", JOB.format(job=12, array="", name="llama", list="ip-10-1-2-3", count=1))
    node.addresses(ip_10_1_2_3="10.1.2.3", ip_10_1_2_4="10.1.2.4")
    said = node.launched("--", "train.py", **HETEROGENEOUS, SLURM_STEP_NUM_NODES=str(count))
    assert said["PET_NNODES"] == str(count)
    assert said["SLURM_JOB_NODELIST"] == ",".join(nodes for nodes, _ in components.values())
    assert said["PET_RDZV_ENDPOINT"].startswith(first.removeprefix("ip-").replace("-", ".") + ":")


def test_the_list_of_all_components_is_not_called_stale(node: Node) -> None:
    node.step("ip-10-1-2-3", 1)
    node.step("ip-10-1-2-[4-5]", 2, job="13")
    node.addresses(ip_10_1_2_3="10.1.2.3")
    whole = {"SLURM_STEP_NUM_NODES": "3", "SLURM_JOB_NODELIST": "ip-10-1-2-[3-5]"}
    assert "the environment names" not in node.run("--", "train.py", environment=HETEROGENEOUS | whole).stderr


def test_a_step_of_a_heterogeneous_job_never_starts_on_some_of_its_nodes(node: Node) -> None:
    node.step("ip-10-1-2-3", 1)
    done = node.run("--", "train.py", environment={**HETEROGENEOUS, "SLURM_STEP_NUM_NODES": "3"})
    assert done.returncode == 1
    assert "FAILED: Slurm tells 1 of the 3 nodes of this step of a heterogeneous job" in done.stderr
    assert done.stdout == ""


def test_a_job_submitted_from_a_heterogeneous_one_is_not_taken_for_it(node: Node) -> None:
    node.step("ip-10-1-2-3", 1)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    others = {**HETEROGENEOUS, "SLURM_JOB_ID_HET_GROUP_0": "7", "SLURM_STEP_NUM_NODES": "1"}
    assert node.launched("--", "train.py", **others)["PET_NNODES"] == "1"


def test_a_step_on_some_nodes_of_the_job_is_never_taken_for_one_on_all(node: Node) -> None:
    node.answer("job", "12", JOB.format(job=12, array="", name="x", list="ip-10-1-2-[3-6]", count=4))
    done = node.run("--", "train.py", environment={"SLURM_STEP_NUM_NODES": "2"})
    assert done.returncode == 1
    assert "does not tell which of the job's 4 nodes this step has" in done.stderr


@pytest.mark.parametrize("count", [1, 256, 1024, 10_000])
def test_any_number_of_nodes(node: Node, count: int) -> None:
    # Names that Slurm cannot shorten: 10,000 of them are longer than the longest argument, 131,072 bytes.
    names = [f"ip-10-{number % 251}-{number // 251}-{number % 7}x" for number in range(count)]
    node.step(",".join(names), count)
    node.answer("node", names[0], f"NodeName={names[0]}\n   NodeAddr=10.0.0.9 NodeHostName=x\n")
    got = node.launched("--", "train.py", SLURM_STEP_NUM_NODES="1")
    assert got["PET_NNODES"] == str(count)
    assert got["PET_RDZV_ENDPOINT"].startswith("10.0.0.9:")
    assert ("SLURM_JOB_NODELIST" in got) is (count < 10_000)
    assert len(node.asked) == 2, "each node of thousands asks the controller twice, no more"


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("a", "a"),
        ("a,b", "a"),
        ("a-[007-012]", "a-007"),
        ("a-[3-4,9],b", "a-3"),
        ("a-[3,9]-x,b-[1-2]", "a-3-x"),
        ("rack[1-2]-node[03-04],z", "rack1-node03"),
        ("a,b-[1-2]", "a"),
    ],
)
def test_the_first_node_of_a_list(node: Node, nodes: str, first: str) -> None:
    node.step(nodes, 3)
    node.answer("node", first, f"NodeName={first} NodeAddr=10.9.9.9\n")
    assert node.launched("--", "train.py")["PET_RDZV_ENDPOINT"].startswith("10.9.9.9:")


def test_a_controller_that_restarts_is_asked_again(node: Node) -> None:
    node.step("ip-10-1-2-3", 1)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    node.program("real-scontrol", (node.programs / "scontrol").read_text().partition("\n")[2])
    node.program(
        "scontrol",
        f"[ -e {node.folder}/second ] || {{ touch {node.folder}/second; echo refused >&2; exit 1; }}\n"
        'exec real-scontrol "$@"',
    )
    assert node.launched("--", "train.py")["PET_NNODES"] == "1"
    assert (node.folder / "second").exists()


def test_a_controller_that_stays_away_is_named(node: Node) -> None:
    done = node.run("--", "train.py")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "FAILED: Slurm's controller does not answer; remedy: see whether slurmctld runs on the controller "
        "node and is reachable"
    )


@pytest.mark.parametrize(
    ("arguments", "changed", "said"),
    [
        ((), {}, "no training script; remedy: name it after --"),
        (("train.py",), {}, "unknown option 'train.py'; remedy: put -- before the training script"),
        (("--venv",), {}, "--venv has no value"),
        (("--venv", "/a", "--image", "/b", "--", "x"), {}, "both --venv and --image"),
        (("--", "x"), {"SLURM_STEP_ID": None}, "not in a step of Slurm; remedy: start it with srun"),
        (("--", "x"), {"SLURM_LOCALID": "1"}, "start one a node, with --ntasks-per-node=1"),
        (("--venv", "/nowhere", "--", "x"), {}, "no /nowhere/bin/python"),
        (("--log-folder", "/proc/x", "--", "x"), {}, "cannot make /proc/x/llama-12"),
        (("--image", "/none.sqsh", "--", "x"), {}, "no enroot on this node"),
    ],
)
def test_what_cannot_start_says_why(
    node: Node, arguments: tuple[str, ...], changed: dict[str, str | None], said: str
) -> None:
    node.step("ip-10-1-2-3", 1)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    done = node.run(*arguments, environment=changed)
    assert done.returncode == 1
    assert said in done.stderr.splitlines()[-1]
    assert done.stdout == ""


def test_a_controller_without_nodes_for_the_step_is_no_cluster_of_none(node: Node) -> None:
    node.step("(null)", 0)
    done = node.run("--", "train.py")
    assert done.returncode == 1
    assert "Slurm tells no nodes of step 12.0" in done.stderr


def test_output_is_appended_to_a_file_of_the_node(node: Node) -> None:
    node.step("ip-10-1-2-3", 1)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    for _ in range(2):
        done = node.run("--log-folder", str(node.folder / "logs"), "--", "train.py")
        assert (done.returncode, done.stdout) == (0, "")
    log = (node.folder / "logs" / "llama-12" / "ip-10-1-2-3.log").read_text()
    assert log.count("launcher: torchrun train.py") == 2
    assert log.count("starts 1 nodes for job 12, step 0, restart 0") == 2


def test_a_name_of_a_job_leads_out_of_no_folder(node: Node) -> None:
    node.step("ip-10-1-2-3", 1)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    logs = node.folder / "my logs"
    node.run("--log-folder", str(logs), "--", "x", environment={"SLURM_JOB_NAME": "../../a b"})
    assert [path.name for path in logs.iterdir()] == [".._.._a_b-12"]


def test_a_whole_command_is_run_as_it_is(node: Node) -> None:
    node.step("ip-10-1-2-3", 1)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    got = node.launched("--command", "--", "whole", "--x", "a b")
    assert (got["launcher"], got["PET_NNODES"]) == ("whole --x a b", "1")


def test_torchrun_comes_from_the_environment_on_shared_storage(node: Node) -> None:
    node.step("ip-10-1-2-3", 1)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    programs = node.folder / "venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "torchrun"):
        (programs / name).write_text('#!/bin/sh\necho "launcher: that of the venv"; exec env\n')
        (programs / name).chmod(0o755)
    got = node.launched("--venv", str(programs.parent), "--", "train.py", PYTHONHOME="/else")
    assert got["launcher"] == "that of the venv"
    assert got["VIRTUAL_ENV"] == str(programs.parent)
    assert "PYTHONHOME" not in got


ENROOT_STAND_IN = """\
echo "enroot $*" >>{folder}/enroot-calls
case $1 in
  import) echo image >"$3" ;;
  create) cat "$4" >/dev/null || exit 1; touch {folder}/containers/$3 ;;
  list) ls {folder}/containers ;;
  remove) rm {folder}/containers/$3 ;;
  start)
    test "$2" = --rw || exit 8
    shift 2
    given="env -i PATH=$PATH"
    while :; do
      case $1 in
        --mount) shift 2 ;;
        --env) eval "value=\\$$2"; given="$given $2=$value"; shift 2 ;;
        *) break ;;
      esac
    done
    test -e {folder}/containers/$1 || exit 9
    shift
    exec $given "$@" ;;
esac
"""


class TestEnroot:
    """With a stand-in for enroot: it keeps no files apart, and gives the command the variables it got."""

    @pytest.fixture(autouse=True)
    def _enroot(self, node: Node) -> None:
        (node.folder / "containers").mkdir()
        node.program("enroot", ENROOT_STAND_IN.replace("{folder}", str(node.folder)))
        for job in ("12", "13"):
            node.step("ip-10-1-2-3", 1, job=job)
        node.addresses(ip_10_1_2_3="10.1.2.3")

    def calls(self, node: Node) -> list[str]:
        """What was done, each time with what was there before."""
        done = [line.split()[1] for line in (node.folder / "enroot-calls").read_text().splitlines()]
        return [word for word in done if word not in ("list", "remove")]

    def containers(self, node: Node) -> list[str]:
        return sorted(path.name for path in (node.folder / "containers").iterdir())

    def test_an_image_of_a_registry_is_fetched_once_a_node(self, node: Node) -> None:
        options = (
            "--image",
            "docker://444455556666.dkr.ecr.us-east-2.amazonaws.com#vision:2",
            "--",
            "train.py",
        )
        for _ in range(2):
            got = node.launched(
                "--mount", str(node.folder), "--export", "NCCL_DEBUG", *options, NCCL_DEBUG="INFO"
            )
            assert got["launcher"] == "torchrun train.py"
            assert got["PET_RDZV_ENDPOINT"].startswith("10.1.2.3:")
            assert got["NCCL_DEBUG"] == "INFO"
            assert got["SLURM_JOB_ID"] == "12"
            assert "TRAIN_ENTRY_PAUSE" not in got
        assert self.calls(node) == ["import", "create", "start", "start"]
        assert f"--mount {node.folder}:{node.folder}" in (node.folder / "enroot-calls").read_text()
        node.launched(*options, SLURM_JOB_ID="13")
        assert self.calls(node)[4:] == ["create", "start"]

    @pytest.mark.parametrize(
        ("answer", "left"),
        [
            ("exit 0", ["hyperpod-13", "mine"]),
            ("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", ["hyperpod-13", "mine"]),
            ("echo '12 dev llama root R'", ["hyperpod-12", "hyperpod-13", "mine"]),
            ("echo 'Unable to contact slurm controller' >&2; exit 1", ["hyperpod-12", "hyperpod-13", "mine"]),
        ],
    )
    def test_what_jobs_that_are_over_wrote_goes(self, node: Node, answer: str, left: list[str]) -> None:
        file = node.folder / "image.sqsh"
        file.write_text("image")
        node.launched("--image", str(file), "--", "train.py")
        (node.folder / "containers" / "mine").touch()
        node.program("squeue", answer)
        node.launched("--image", str(file), "--", "train.py", SLURM_JOB_ID="13")
        assert self.containers(node) == left

    def test_an_unpacking_that_was_killed_is_done_again(self, node: Node) -> None:
        file = node.folder / "image.sqsh"
        file.write_text("image")
        node.launched("--image", str(file), "--", "train.py")
        for ready in (node.folder / "images").glob("*.ready"):
            ready.unlink()
        node.launched("--image", str(file), "--", "train.py")
        assert self.calls(node) == ["create", "start"] * 2

    @pytest.mark.parametrize(
        ("image", "fails", "said"),
        [
            (
                "docker://r#a:1",
                "import",
                "cannot import docker://r#a:1; remedy: look at the lines above, and at",
            ),
            (
                "image.sqsh",
                "create",
                "cannot unpack image.sqsh; remedy: look at the lines above, and at df -h",
            ),
            (
                "none.sqsh",
                "nothing",
                "no readable none.sqsh; remedy: see that the image is on shared",
            ),
        ],
    )
    def test_an_image_that_does_not_come_is_named(
        self, node: Node, image: str, fails: str, said: str
    ) -> None:
        (node.folder / "image.sqsh").write_text("image")
        node.program("enroot", f"test $1 != {fails}")
        done = node.run("--image", image, "--", "train.py")
        assert done.returncode == 1
        assert said in done.stderr
        assert done.stdout == ""

    def test_images_are_taken_from_no_folder_of_others(self, node: Node) -> None:
        (node.folder / "elsewhere").mkdir()
        (node.folder / "images").symlink_to(node.folder / "elsewhere")
        done = node.run("--image", "docker://r#a:1", "--", "train.py")
        assert done.returncode == 1
        assert "is not this user's own folder; remedy: remove it, or name another" in done.stderr
        assert not (node.folder / "enroot-calls").exists()

    def test_images_are_nobody_elses_to_write(self, node: Node) -> None:
        node.launched("--image", "docker://r#a:1", "--", "train.py")
        assert (node.folder / "images").stat().st_mode & 0o777 == 0o700

    def test_a_missing_mount_is_named(self, node: Node) -> None:
        file = node.folder / "image.sqsh"
        file.write_text("image")
        done = node.run("--image", str(file), "--mount", "/nowhere", "--", "train.py")
        assert done.returncode == 1
        assert "no folder /nowhere; remedy: see that it is mounted on this node" in done.stderr


def test_signals_reach_the_launcher(node: Node) -> None:
    node.step("ip-10-1-2-3", 1)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    node.program("torchrun", "echo $$")
    process = subprocess.Popen(
        ["bash", ENTRY, "--", "train.py"],
        env=node.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    said, _ = process.communicate(timeout=60)
    assert int(said) == process.pid, "the launcher is in place of the shell"


def test_the_launcher_has_the_limits_of_the_node_and_not_of_the_shell(node: Node) -> None:
    node.step("ip-10-1-2-[3-4]", 2)
    node.addresses(ip_10_1_2_3="10.1.2.3")
    node.program("limits", "ulimit -Sn; ulimit -Hn; ulimit -Sl; ulimit -Hl")
    shell = 'ulimit -Sn 300; ulimit -Hn 500; ulimit -Sl 8; exec bash "$0" "$@"'
    done = subprocess.run(
        ["bash", "-c", shell, ENTRY, "--command", "--", "limits"],
        env=node.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    files, most_files, locked, most_locked = done.stdout.split()
    assert (files, most_files) == ("500", "500")
    assert locked == most_locked != "8"


def test_the_script_keeps_to_the_bash_of_the_nodes() -> None:
    assert ENTRY.read_text().startswith("#!/bin/bash\n")
    assert os.access(ENTRY, os.R_OK)
