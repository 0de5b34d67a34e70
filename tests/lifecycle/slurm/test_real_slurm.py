"""Batch files and the job entry on a real Slurm of five or six nodes.

HyperPod's auto-resume and its repairs are stand-ins, see ``local_slurm.hyperpod_stand_in``.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from killed_training.nodes import LIBRARY, WORKER
from local_slurm import LocalSlurm, needs_slurm
from local_slurm.hyperpod_stand_in import KEEPS_NODES, repair, with_auto_resume
from training_environment import PROGRAMS, needs_torchrun

from hyperpod_charts.slurm_batch import JOB_ENTRY, SlurmBatch, render_slurm_batch
from hyperpod_lifecycle.scripts_folder import scripts_folder
from hyperpod_lifecycle.training import LocalKey
from hyperpod_model.catalog.nodes import REBOOT_REASON, REPLACE_REASON
from hyperpod_model.job_spec import JobSpec

pytestmark = [needs_slurm, pytest.mark.needs_system("bash", "timeout")]

ROOT = Path(__file__).parents[3]
TINY_TRAINING = Path(__file__).with_name("tiny_training.py")
ENTRY = scripts_folder() / "job" / "train_entry.sh"
RECOVER = scripts_folder() / "job" / "recover_node.sh"

_MOST_SECONDS = 240
"""Of training with PyTorch on a machine that has other things to do."""


class Job:
    """A job that is rendered from a specification, in a folder that its nodes share."""

    def __init__(self, slurm: LocalSlurm, folder: Path, name: str, **changes: Any) -> None:
        self.slurm = slurm
        self.folder = folder / name
        self.folder.mkdir()
        fields: dict[str, Any] = {
            "name": name,
            "image": "444455556666.dkr.ecr.us-east-2.amazonaws.com/vision:2.3.1",
            "instance_type": "ml.p5.48xlarge",
            "nodes": 2,
            "processes_per_node": 1,
            "command": [sys.executable, str(TINY_TRAINING), str(self.folder), "40"],
            **changes,
        }
        self.spec = JobSpec.model_validate(fields)
        self.id = ""

    def submit(
        self,
        *options: str,
        gres: str | None = "",
        environment: dict[str, str] | None = None,
        through: tuple[str, ...] = (),
    ) -> Job:
        how = SlurmBatch(venv=str(PROGRAMS.parent), log_folder=str(self.folder), generic_resources=gres)
        text = render_slurm_batch(self.spec, batch=how)
        # The lifecycle scripts install the entry at a place where a test may not write.
        assert JOB_ENTRY in text
        file = self.folder / "job.sbatch"
        file.write_text(text.replace(JOB_ENTRY, str(ENTRY)))
        self.id = self.slurm.submit(*options, str(file), environment=environment, through=through)
        return self

    @property
    def log(self) -> str:
        """All that was written, the batch file's log first."""
        files = sorted(self.folder.glob("*.out")) + sorted(self.folder.glob("*/*.log"))
        return "\n".join(f"== {file.name}\n{file.read_text()}" for file in files)

    def said(self, pattern: str) -> list[Any]:
        return re.findall(pattern, self.log, re.MULTILINE)

    def wait_for(self, pattern: str, *, times: int = 1) -> None:
        try:
            self.slurm.wait_until(repr(pattern), lambda: len(self.said(pattern)) >= times)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log}") from error

    def wait_for_end(self) -> str:
        ends = ("COMPLETED", "FAILED", "NODE_FAIL", "CANCELLED", "TIMEOUT")
        return self.slurm.wait_for_state(self.id, *ends, seconds=_MOST_SECONDS)

    def wait_for_checkpoint(self) -> None:
        """Of the tiny training."""
        self.slurm.wait_until("checkpoint", (self.folder / "checkpoint").exists)

    def traced(self, what: str, *, rank: int | None = None) -> list[dict[str, Any]]:
        """What the processes of the worker said of one thing, in the order in which they started."""
        pattern = "*.jsonl" if rank is None else f"*-{rank}-*.jsonl"
        files = sorted((self.folder / "trace").glob(pattern))
        lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        return [line for line in lines if line["what"] == what]

    def begun(self) -> list[int]:
        """Steps at which nodes began the tiny training, in order."""
        return sorted(int(step) for step in self.said(r" begins at (\d+):"))

    def lose(self, node: str) -> None:
        """Cut the power of a node; that Slurm hears of it at once, and not after its timeout, saves time."""
        self.slurm.kill_node(node)
        self.slurm.run("scontrol", "update", f"nodename={node}", "state=down", "reason=power")


def test_the_step_goes_on_with_a_spare_node_in_the_same_job(plain: LocalSlurm, tmp_path: Path) -> None:
    job = Job(plain, tmp_path, "swapped").submit(KEEPS_NODES, environment=with_auto_resume(plain))
    job.wait_for_checkpoint()
    first = plain.nodes_of(job.id)
    job.lose(first[1])
    assert job.wait_for_end() == "COMPLETED", job.log
    spare = next(node for node in plain.nodes_of(job.id) if node not in first)
    assert f"stand-in for auto-resume: {first} are now {[first[0], spare]}" in job.log
    # The same batch script in the same job: only the step was run again.
    assert plain.show("job", job.id)["Restarts"] == "0"
    met = rf"restart 0; they meet at {plain.address_of(first[0])}:\d+ on {first[0]}"
    assert len(job.said(rf"starts 2 nodes for job {job.id}, step 0, {met}$")) == 2, job.log
    # As on HyperPod, the environment still names the node that is gone; what the training gets does not.
    old = job.said(rf"starts 2 nodes for job {job.id}, step 1, {met}; the environment names (\S+)$")
    assert len(old) == 2, job.log
    assert {plain.hostnames(names) for names in old} == {tuple(first)}
    given = job.said(r" begins at [1-9]\d*: .*SLURM_JOB_NODELIST=(\S+) SLURM_JOB_NUM_NODES=2$")
    assert {plain.hostnames(names) for names in given} == {(first[0], spare)}
    begun = job.begun()
    assert begun[:2] == [0, 0], job.log
    assert min(begun[2:4]) > 0, job.log


@needs_torchrun
def test_with_generic_resources_the_requeued_job_goes_on(with_gpus: LocalSlurm, tmp_path: Path) -> None:
    steps, interval = 120, 10
    trains = Job(
        with_gpus,
        tmp_path,
        "requeued",
        command=[],
        script=str(WORKER),
        script_args=[
            *("--folder", str(tmp_path / "requeued"), "--steps", str(steps), "--save-every", str(interval)),
            *("--pause-seconds", "0.03"),
        ],
        environment={"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1", "PYTHONPATH": LIBRARY},
    )
    LocalKey.generate(trains.folder / "key")
    (trains.folder / "trace").mkdir()
    # At the same time one that loses the node of its batch script, which no auto-resume can help.
    beheaded = Job(with_gpus, tmp_path, "beheaded")
    trains.submit(KEEPS_NODES, gres=None, environment=with_auto_resume(with_gpus))
    beheaded.submit(gres=None, environment=with_auto_resume(with_gpus))
    beheaded.wait_for_checkpoint()
    beheaded.lose(with_gpus.nodes_of(beheaded.id)[0])
    with_gpus.wait_until("second save", lambda: len(trains.traced("saved")) >= 2, seconds=_MOST_SECONDS)
    before = with_gpus.nodes_of(trains.id)
    trains.lose(before[1])

    assert trains.wait_for_end() == "COMPLETED", trains.log
    assert with_gpus.show("job", trains.id)["Restarts"] == "1"
    assert before[1] not in with_gpus.nodes_of(trains.id)
    assert f"lost {before[1]}" in trains.log, "the log of the first run is still there"
    assert len(trains.said(r"starts 2 nodes for job \d+, step 0, restart 1;")) == 2

    starts = trains.traced("resumed")
    assert [line["step"] for line in starts[:2]] == [None, None]
    resumed = starts[2]["step"]
    assert [line["step"] for line in starts[2:]] == [resumed, resumed], "both ranks go on after one step"
    assert resumed == starts[2]["newest"], "it is the newest checkpoint"
    for rank in (0, 1):
        done = trains.traced("done", rank=rank)
        assert sorted({line["step"] for line in done}) == list(range(steps))
        again = [line["step"] for line in done if line["step"] > resumed]
        lost = len(again) - len(set(again))
        assert lost <= interval, "what is lost is the work since the last save"
        told = {(line["step"], line["digest"], tuple(line["samples"])) for line in done}
        assert len(told) == steps, "a step that was done again is the same, bit for bit"

    assert beheaded.wait_for_end() == "COMPLETED", beheaded.log
    assert with_gpus.show("job", beheaded.id)["Restarts"] == "1"
    begun = beheaded.begun()
    assert begun[:2] == [0, 0], beheaded.log
    assert min(begun[2:4]) > 0, beheaded.log


def test_an_array_of_jobs_and_steps_at_the_same_time(plain: LocalSlurm, tmp_path: Path) -> None:
    file = tmp_path / "array.sbatch"
    file.write_text(
        "#!/bin/bash\n"
        "#SBATCH --nodes=2 --exclusive --ntasks-per-node=1 --array=0-1\n"
        f"#SBATCH --output={tmp_path}/array-%A_%a.out\n"
        f"srun {ENTRY} --command -- printenv SLURM_JOB_ID SLURM_JOB_NODELIST PET_RDZV_ENDPOINT PET_NNODES\n"
    )
    array = plain.submit(str(file))
    steps = tmp_path / "steps.sbatch"
    steps.write_text(
        "#!/bin/bash\n"
        "#SBATCH --nodes=4 --exclusive --ntasks-per-node=1\n"
        f"#SBATCH --output={tmp_path}/steps.out\n"
        "read -ra nodes <<<$(scontrol show hostnames | tr '\\n' ' ')\n"
        f"srun --nodes=2 --nodelist=${{nodes[0]}},${{nodes[1]}} {ENTRY} --command -- "
        "printenv SLURM_STEP_ID PET_RDZV_ENDPOINT PET_NNODES &\n"
        f"srun --nodes=2 --nodelist=${{nodes[2]}},${{nodes[3]}} {ENTRY} --command -- "
        "printenv SLURM_STEP_ID PET_RDZV_ENDPOINT PET_NNODES &\n"
        "wait\n"
    )
    for task in (0, 1):
        plain.wait_until("end of the array", lambda task=task: _ended(plain, f"{array}_{task}"))
    said = [(tmp_path / f"array-{array}_{task}.out").read_text() for task in (0, 1)]
    endpoints = [set(re.findall(r"^(127\.\S+):\d+$", text, re.MULTILINE)) for text in said]
    assert [len(found) for found in endpoints] == [1, 1], said
    assert endpoints[0] != endpoints[1], "each job of the array meets on its own nodes"
    assert all(re.findall(r"^2$", text, re.MULTILINE) == ["2", "2"] for text in said), said

    job = plain.submit(str(steps))
    assert plain.wait_for_state(job, "COMPLETED", "FAILED") == "COMPLETED"
    nodes = plain.nodes_of(job)
    text = (tmp_path / "steps.out").read_text()
    ends = set(re.findall(r"^(127\.\S+):(\d+)$", text, re.MULTILINE))
    assert {address for address, _ in ends} == {plain.address_of(nodes[0]), plain.address_of(nodes[2])}, text
    assert len({port for _, port in ends}) == 2, text


def _ended(slurm: LocalSlurm, job: str) -> bool:
    return slurm.show("job", job)["JobState"] in ("COMPLETED", "FAILED")


def test_the_first_node_of_a_list_is_the_one_that_slurm_names(plain: LocalSlurm) -> None:
    text = ENTRY.read_text()
    function = text[text.index("first_node() {") : text.index("# field NAME")]
    lists = [
        "ip-10-1-2-[3-5]",
        "ip-10-1-2-[3,5],ip-10-1-3-7",
        "rack[1-2]-node[03-04],z",
        "a,b-[1-2]",
        "n[0099-1001]",
        ",".join(f"ip-10-{number % 200}-{number // 200}-7" for number in range(3000)),
    ]
    for listed in lists:
        ours = plain.run("bash", "-c", f'{function}\nfirst_node "$1"', "bash", listed).stdout.strip()
        assert ours == plain.run("scontrol", "show", "hostnames", listed).stdout.split()[0]


def test_a_repair_needs_its_exact_reason(plain: LocalSlurm) -> None:
    node, other, third = plain.nodes[:3]
    refused = plain.run("scontrol", "update", f"node={node}", "state=fail", check=False)
    assert refused.returncode != 0
    assert "reason" in refused.stderr.lower()
    plain.run("scontrol", "update", f"node={node}", "state=fail", f"reason={REPLACE_REASON}")
    plain.run("scontrol", "update", f"node={other}", "state=fail", f"reason={REBOOT_REASON}")
    plain.run("scontrol", "update", f"node={third}", "state=fail", "reason=action:replace")
    # Slurm takes any text and keeps it letter by letter; HyperPod acts on two.
    assert plain.show("node", node)["Reason"] == "Action:Replace"
    assert plain.show("node", other)["Reason"] == "Action:Reboot"
    assert repair(plain) == {node: "replace", other: "reboot"}
    assert "FAIL" in plain.states_of(third)


def test_a_node_is_replaced_by_hand_during_a_run(plain: LocalSlurm, tmp_path: Path) -> None:
    job = Job(plain, tmp_path, "by-hand")
    # The usual batch file, as people write it.
    file = job.folder / "job.sbatch"
    command = " ".join(job.spec.command)
    file.write_text(
        "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --exclusive\n"
        f"srun --auto-resume=1 {ENTRY} --command -- {command}\n"
    )
    log = f"--output={job.folder}/by-hand.out"
    job.id = plain.submit(KEEPS_NODES, log, str(file), environment=with_auto_resume(plain))
    job.wait_for_checkpoint()
    node = plain.nodes_of(job.id)[1]
    plain.run("bash", str(RECOVER), "replace", node)
    assert plain.show("node", node)["Reason"] == REPLACE_REASON
    again = plain.run("bash", str(RECOVER), "reboot", node, check=False)
    assert again.returncode == 2
    assert f"Action:Replace of {node} is under way" in again.stderr
    assert plain.show("job", job.id)["JobState"] == "RUNNING", "a failing node goes on with what it has"
    assert list(repair(plain)) == [node]
    assert job.wait_for_end() == "COMPLETED", job.log
    begun = job.begun()
    assert begun[:2] == [0, 0], job.log
    assert min(begun[2:4]) > 0, job.log


def test_a_program_that_fails_by_itself_is_not_run_again(plain: LocalSlurm, tmp_path: Path) -> None:
    job = Job(plain, tmp_path, "broken", command=["false"])
    job.submit(KEEPS_NODES, environment=with_auto_resume(plain))
    assert job.wait_for_end() == "FAILED"
    assert plain.show("job", job.id)["Restarts"] == "0"
    assert len(job.said(r"starts 2 nodes")) <= 2


def test_a_job_that_was_requeued_too_often_gives_its_nodes_back(plain: LocalSlurm, tmp_path: Path) -> None:
    job = Job(plain, tmp_path, "limited", auto_resume={"max_retries": 1})
    # What Slurm sets at the second requeue.
    job.submit("--export=ALL,SLURM_RESTART_COUNT=2")
    state = job.wait_for_end()
    assert state == "FAILED", job.log
    assert "requeued 2 times, and auto_resume.max_retries is 1" in job.log


def test_sigterm_reaches_the_training(plain: LocalSlurm, tmp_path: Path) -> None:
    job = Job(
        plain, tmp_path, "ended", command=[sys.executable, str(TINY_TRAINING), str(tmp_path / "ended"), "600"]
    )
    job.submit()
    job.wait_for(r" begins at 0:", times=2)
    plain.run("scancel", "--signal=TERM", job.id)
    assert job.wait_for_end() == "FAILED"
    assert job.said(r"was told to end after step \d+"), job.log


PREEMPTING = (
    "PreemptType=preempt/partition_prio",
    "PreemptMode=REQUEUE",
    "PartitionName=spare Nodes=ALL PriorityTier=1 GraceTime=60",
    "PartitionName=urgent Nodes=ALL PriorityTier=9",
)


def preempt(slurm: LocalSlurm) -> str:
    wrapped = ("--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=true")
    return slurm.submit("--partition=urgent", *wrapped)


def test_a_preempted_job_saves_and_goes_on_later(tmp_path: Path) -> None:
    with LocalSlurm(nodes=2, parameters=PREEMPTING) as slurm:
        job = Job(slurm, tmp_path, "preempted").submit("--partition=spare")
        job.wait_for(r" begins at 0:", times=2)
        other = preempt(slurm)
        assert job.wait_for_end() == "COMPLETED", job.log
        assert slurm.show("job", other)["JobState"] == "COMPLETED"
        assert slurm.show("job", job.id)["Restarts"] == "1"
    assert job.said(r"was told to end after step \d+"), job.log
    assert re.search(r"^preempted: job \d+ ended with \d+ and is requeued$", job.log, re.MULTILINE), job.log
    begun = job.begun()
    assert begun[:2] == [0, 0], job.log
    assert min(begun[2:]) > 0, job.log


def test_a_job_that_fails_after_an_earlier_preemption_has_failed(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    program = f"[ -e {begun} ] && exit 3; sleep 3; touch {begun}; exec sleep 600"
    with LocalSlurm(nodes=2, parameters=PREEMPTING) as slurm:
        job = Job(slurm, tmp_path, "fails", command=["sh", "-c", program]).submit("--partition=spare")
        slurm.wait_until("the first start", begun.exists)
        preempt(slurm)
        assert job.wait_for_end() == "FAILED", job.log
        assert slurm.show("job", job.id)["Restarts"] == "1"
    assert len(job.said(r"^preempted: job \d+ ended with \d+ and is requeued$")) == 1, job.log


def test_the_command_submits_what_it_renders(plain: LocalSlurm, tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(
        "name: submitted\n"
        "image: 444455556666.dkr.ecr.us-east-2.amazonaws.com/vision:2.3.1\n"
        "instance_type: ml.p5.48xlarge\n"
        "nodes: 3\n"
        "script: /app/train.py\n"
        "grace_period_seconds: 90\n"
        "active_deadline_seconds: 7000\n"
        "persistent_volume_claims: [{claim_name: lustre, mount_path: /lustre}]\n"
        "checkpoint: {path: /lustre/vision}\n"
    )
    command = [sys.executable, "-m", "hyperpod_charts.command", "render", str(job), "--slurm", "--submit"]
    done = plain.run(*command, "--gres", "none", "--log-folder", str(tmp_path))
    assert done.stderr == ""
    found = re.fullmatch(r"submitted as job (\d+)\n", done.stdout)
    assert found is not None
    shown = plain.show("job", found[1])
    assert (shown["JobName"], shown["Requeue"]) == ("submitted", "1")
    assert shown["NumNodes"].partition("-")[0] == "3"
    assert shown["OverSubscribe"] == "NO"
    assert shown["TimeLimit"] == "01:57:00"
    assert shown["StdOut"] == f"{tmp_path}/submitted-{found[1]}.out"
    refused = plain.run(*command, "--gres", "gpu:8", check=False)
    assert refused.returncode == 1
    assert "submitted: refused by sbatch: sbatch: error:" in refused.stderr


def batch_file_of_the_page(folder: Path, train: str) -> str:
    """The one written by hand, with a stand-in for torchrun that runs some shell script for the training."""
    page = (ROOT / "docs" / "slurm-jobs.md").read_text()
    blocks = re.findall(r"^```bash\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (text,) = [block for block in blocks if "/fsx/code/evaluate.py" in block]
    programs = folder / "venv" / "bin"
    programs.mkdir(parents=True)
    tell = 'echo "$* $PET_NNODES $PET_RDZV_ENDPOINT"'
    for name in ("python", "torchrun"):
        (programs / name).write_text(f"#!/bin/sh\n{tell}\ncase $1 in */evaluate.py) ;; *) {train} ;; esac\n")
        (programs / name).chmod(0o755)
    file = folder / "job.sbatch"
    file.write_text(text.replace(JOB_ENTRY, str(ENTRY)).replace("/fsx/envs/train", str(programs.parent)))
    return str(file)


def test_the_batch_file_written_by_hand_on_the_page_runs(plain: LocalSlurm, tmp_path: Path) -> None:
    # The evaluation is done before the training, which ends the job.
    job = plain.submit(f"--output={tmp_path}/log", batch_file_of_the_page(tmp_path, "sleep 3"))
    assert plain.wait_for_state(job, "COMPLETED", "FAILED") == "COMPLETED"
    nodes = plain.nodes_of(job)
    log = (tmp_path / "log").read_text()
    trained = re.findall(r"^/fsx/code/train.py 3 (\S+):(\d+)$", log, re.MULTILINE)
    evaluated = re.findall(r"^/fsx/code/evaluate.py 1 (\S+):(\d+)$", log, re.MULTILINE)
    assert [address for address, _ in trained] == [plain.address_of(nodes[0])] * 3, log
    assert [address for address, _ in evaluated] == [plain.address_of(nodes[3])], log
    assert {port for _, port in trained}.isdisjoint({port for _, port in evaluated})
    assert "more than one task" not in log
    assert "srun: " not in log, "it warns of no option"


def test_the_batch_file_written_by_hand_fails_with_its_training(plain: LocalSlurm, tmp_path: Path) -> None:
    # The other two would train on. Not at once: Slurm 22.05 ends no task that it is just about to start.
    train = "if [ $SLURM_PROCID = 1 ]; then sleep 2; exit 7; fi; sleep 600"
    job = plain.submit(f"--output={tmp_path}/log", batch_file_of_the_page(tmp_path, train))
    assert plain.wait_for_state(job, "COMPLETED", "FAILED") == "FAILED"
    assert "task 1: Exited with exit code 7" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    "shell",
    [
        ("salloc", "--quiet", "--nodes=1", "--gpus-per-node=1", "--mem=50"),
        ("salloc", "--quiet", "--nodes=2", "--gpus=2", "--mem-per-cpu=10"),
        ("srun", "--quiet", "--nodes=1", "--ntasks=1", "--gpus-per-task=1", "--mem-per-gpu=10"),
        ("env", "SBATCH_EXPORT=NONE"),
    ],
    ids=["GPUs a node", "GPUs a job", "GPUs a task", "without variables"],
)
def test_a_step_gets_all_of_its_nodes_whatever_shell_submits_it(
    with_gpus: LocalSlurm, tmp_path: Path, shell: tuple[str, ...]
) -> None:
    show = f"scontrol --oneliner show step $SLURM_JOB_ID.$SLURM_STEP_ID >{tmp_path}/step-$SLURM_PROCID"
    tell = "exec echo given $SLURM_GPUS_ON_NODE $FI_PROVIDER $WORD"
    job = Job(
        with_gpus, tmp_path, "whole", command=["bash", "-c", f"{show}; {tell}"], environment={"WORD": "w"}
    )
    job.submit(gres=None, through=shell)
    assert job.wait_for_end() == "COMPLETED", job.log
    assert job.said(r"^given (.*)$") == ["8 efa w"] * 2, job.log
    # Slurm has a default of 100 MB here, and 1000 a node.
    assert ",mem=2000M," in with_gpus.show("job", job.id)["TRES"]
    steps = [(tmp_path / f"step-{rank}").read_text() for rank in (0, 1)]
    assert all(re.search(r" TRES=cpu=8,mem=2000M,", step) for step in steps), steps


def test_steps_of_a_heterogeneous_job_meet_within_the_step(plain: LocalSlurm, tmp_path: Path) -> None:
    """A step on the second component, then one on both: each finds its own nodes."""
    show = "--command -- bash -c 'echo $SLURM_STEP_ID $PET_NNODES $PET_RDZV_ENDPOINT'"
    file = tmp_path / "job.sbatch"
    file.write_text(
        f"#!/bin/bash\n#SBATCH --nodes=1 --exclusive --ntasks-per-node=1 --output={tmp_path}/log\n"
        "#SBATCH hetjob\n#SBATCH --nodes=2 --exclusive --ntasks-per-node=1\n"
        f"for components in 1 0,1; do srun --het-group=$components {ENTRY} {show}; done\n"
    )
    job = plain.submit(str(file))
    assert plain.wait_for_state(job, "COMPLETED", "FAILED") == "COMPLETED"
    log = (tmp_path / "log").read_text()
    said = re.findall(r"^(\d) (\d) (\S+):\d+$", log, re.MULTILINE)
    # Asked for the first component, Slurm shows all.
    shown = plain.run("scontrol", "--oneliner", "show", "job", job).stdout
    lists = re.findall(r"^JobId=.* NodeList=(\S+)", shown, re.MULTILINE)
    first, second = (plain.address_of(plain.hostnames(nodes)[0]) for nodes in lists)
    assert sorted(said) == [("0", "2", second)] * 2 + [("1", "3", first)] * 3, log


def test_words_of_a_specification_are_no_commands_and_no_options(plain: LocalSlurm, tmp_path: Path) -> None:
    hostile = [
        f"$(touch {tmp_path}/ran)",
        "`id`",
        "new\nline\n#SBATCH --nodes=4",
        'it\'s "quoted"; exit 3',
        "a b",
        "",
        "--",
        "*",
        "\\",
        "%j $HOME ~ é",
    ]
    show = tmp_path / "show it.py"
    show.write_text(
        "import json, os, sys\n"
        "print('given ' + json.dumps([sys.argv[1:], [os.environ[f'WORD_{at}'] for at in range(10)]]))\n"
    )
    job = Job(
        plain,
        tmp_path,
        "hostile",
        command=[sys.executable, str(show), *hostile],
        environment={f"WORD_{at}": word for at, word in enumerate(hostile)},
    ).submit()
    assert job.wait_for_end() == "COMPLETED", job.log
    assert [json.loads(given) for given in job.said(r"^given (.*)$")] == [[hostile, hostile]] * 2
    assert not (tmp_path / "ran").exists()
    assert len(plain.nodes_of(job.id)) == 2
