"""Batch files of jobs, as they were agreed and part by part.

Nothing writes the files below ``golden_slurm``. When a change of them is meant, see it first,

    hyperpod-jobs render examples/jobs/ddp-pretrain.yaml --slurm |
        diff tests/charts/golden_slurm/ddp-pretrain.sbatch -

then make it there by hand.
"""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rendered_jobs import example

from hyperpod_charts.slurm_batch import JOB_ENTRY, SlurmBatch, enroot_uri, render_slurm_batch
from hyperpod_charts.slurm_batch_faults import (
    EKS_ONLY,
    LEFT_OUT,
    SHELL_VARIABLES,
    faults_on_slurm,
    faults_on_slurm_cluster,
    partition_on,
)
from hyperpod_model.catalog.nodes import AUTO_RESUME_OPTION
from hyperpod_model.cluster_spec import ClusterSpec, load_cluster
from hyperpod_model.faults import InvalidInputError
from hyperpod_model.job_spec import JobSpec

GOLDEN = Path(__file__).parent / "golden_slurm"
ROOT = Path(__file__).parents[2]

AGREED = {
    "ddp-pretrain": SlurmBatch(),
    "fsdp": SlurmBatch(partition="train", venv="/fsx/envs/train", log_folder="/fsx/logs"),
    "trainium": SlurmBatch(image_file="/fsx/images/llama-neuron.sqsh"),
}


def job(**changes: Any) -> JobSpec:
    return JobSpec.model_validate(
        {
            "name": "vision",
            "image": "444455556666.dkr.ecr.us-east-2.amazonaws.com/team/vision:2.3.1",
            "instance_type": "ml.p5.48xlarge",
            "nodes": 3,
            "script": "/app/train.py",
            "persistent_volume_claims": [{"claim_name": "lustre", "mount_path": "/lustre"}],
            "checkpoint": {"path": "/lustre/vision"},
            **changes,
        }
    )


def options_of(text: str) -> list[str]:
    return [line.removeprefix("#SBATCH ") for line in text.splitlines() if line.startswith("#SBATCH ")]


def run_batch(text: str, programs: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a batch file with the programs of a folder before those of the system."""
    return subprocess.run(
        ["bash"],
        input=text,
        env={"PATH": f"{programs}:/usr/bin:/bin", "SLURM_JOB_ID": "7", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_each_golden_file_is_of_a_case():
    assert sorted(path.stem for path in GOLDEN.iterdir()) == sorted(AGREED)


@pytest.mark.parametrize("name", AGREED)
def test_an_example_is_rendered_as_it_was_agreed(name: str):
    agreed = (GOLDEN / f"{name}.sbatch").read_text(encoding="utf-8")
    rendered = render_slurm_batch(example(name), batch=AGREED[name])
    changes = difflib.unified_diff(
        agreed.splitlines(), rendered.splitlines(), "golden", "rendered", lineterm=""
    )
    assert rendered == agreed, "\n".join(changes)


@pytest.mark.parametrize("name", AGREED)
def test_shellcheck_finds_nothing_in_a_batch_file(name: str):
    program = shutil.which(
        "shellcheck", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    assert program is not None
    done = subprocess.run([program, GOLDEN / f"{name}.sbatch"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_job_gets_whole_nodes_with_one_task_each_and_goes_on_after_a_requeue():
    assert options_of(render_slurm_batch(job())) == [
        "--job-name=vision",
        "--nodes=3",
        "--ntasks-per-node=1",
        "--exclusive",
        "--mem=0",
        "--gres=gpu:8",
        "--requeue",
        "--open-mode=append",
        "--output=%x-%j.out",
        "--signal=TERM@120",
    ]


def test_options_come_before_any_command_where_sbatch_reads_them():
    lines = render_slurm_batch(job()).splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("#SBATCH"))
    assert all(line.startswith("#") for line in lines[: last + 1])


@pytest.mark.parametrize(
    ("changes", "option"),
    [
        ({"grace_period_seconds": 300}, "--signal=TERM@300"),
        ({"active_deadline_seconds": 3601}, "--time=61"),
        ({"accelerators": 4}, "--gres=gpu:4"),
    ],
)
def test_a_field_becomes_an_option(changes: dict[str, Any], option: str):
    assert option in options_of(render_slurm_batch(job(**changes)))
    assert option not in options_of(render_slurm_batch(job()))


def test_a_job_that_is_not_to_resume_neither_requeues_nor_resumes():
    text = render_slurm_batch(job(auto_resume=None))
    assert "--no-requeue" in options_of(text)
    assert AUTO_RESUME_OPTION not in text
    assert "SLURM_RESTART_COUNT" not in text
    assert "scontrol requeue" not in text
    assert "exec srun --export=ALL " in text


def test_generic_resources_can_be_said_and_left_out():
    assert "--gres=gpu:h100:8" in render_slurm_batch(job(), batch=SlurmBatch(generic_resources="gpu:h100:8"))
    assert "--gres" not in render_slurm_batch(job(), batch=SlurmBatch(generic_resources=""))
    assert "--gres" not in render_slurm_batch(example("trainium")), "no name for Neuron devices is common"


def test_the_processes_are_in_the_network_of_the_nodes():
    assert "export NCCL_SOCKET_IFNAME='^lo,docker,veth,eni'" in render_slurm_batch(job())


def test_the_shell_takes_values_as_they_are(tmp_path: Path):
    environment = {"GREETING": 'it\'s "5" $HOME `id` \\', "EMPTY": ""}
    arguments = ["--name", "a b", "--quote", "'", "$(id)", "*"]
    text = render_slurm_batch(job(environment=environment, script_args=arguments))
    (tmp_path / "srun").write_text(
        '#!/bin/bash\n[[ $* == *--version* ]] && exit 1\nprintf "%s\\0" "$GREETING" "$EMPTY" "$@"\n'
    )
    (tmp_path / "srun").chmod(0o755)
    done = run_batch(text, tmp_path)
    assert done.returncode == 0, done.stderr
    greeting, empty, *words = done.stdout.split("\0")[:-1]
    assert (greeting, empty) == (environment["GREETING"], "")
    assert words[words.index("--") + 1 :] == ["/app/train.py", *arguments]
    assert words[:4] == ["--export=ALL", "--ntasks-per-node=1", "--kill-on-bad-exit=1", JOB_ENTRY]


@pytest.mark.parametrize("takes_it", [True, False])
def test_auto_resume_is_asked_for_where_srun_knows_it(tmp_path: Path, takes_it: bool):
    program = tmp_path / "srun"
    answer = f"[[ $* == *--version* ]] && exit {int(not takes_it)}"
    program.write_text(f'#!/bin/bash\n{answer}\nprintf "%s " "$@"\n')
    program.chmod(0o755)
    done = run_batch(render_slurm_batch(job()), tmp_path)
    assert done.stdout.startswith(f"{AUTO_RESUME_OPTION} --export=ALL ") is takes_it


@pytest.mark.parametrize(("count", "code"), [("", 0), ("0", 0), ("2", 0), ("3", 1)])
def test_a_job_is_requeued_as_often_as_it_says(tmp_path: Path, count: str, code: int):
    (tmp_path / "srun").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "srun").chmod(0o755)
    counted = {"SLURM_RESTART_COUNT": count} if count else {}
    done = run_batch(render_slurm_batch(job(auto_resume={"max_retries": 2})), tmp_path, **counted)
    assert done.returncode == code
    assert ("requeued 3 times, and auto_resume.max_retries is 2" in done.stderr) is (code == 1)


@pytest.mark.parametrize(
    ("code", "time", "environment", "requeued"),
    [
        (143, "2026-11-01T10:00:00", {}, "7"),
        (143, "2026-11-01T10:00:00", {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "3"}, "7_3"),
        # Of the job that submitted this one.
        (143, "2026-11-01T10:00:00", {"SLURM_ARRAY_JOB_ID": "6", "SLURM_ARRAY_TASK_ID": "3"}, "7"),
        (143, "None", {}, None),
        (0, "2026-11-01T10:00:00", {}, None),
    ],
    ids=["preempted", "first of an array", "from an array", "failed", "done"],
)
def test_a_preempted_job_that_ends_by_itself_asks_for_its_requeue(
    tmp_path: Path, code: int, time: str, environment: dict[str, str], requeued: str | None
):
    programs = {
        "srun": f"#!/bin/sh\nexit {code}\n",
        "scontrol": f'#!/bin/sh\necho "$*" >>{tmp_path}/asked\necho "  EligibleTime=x PreemptTime={time}"\n',
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    done = run_batch(render_slurm_batch(job()), tmp_path, **environment)
    assert done.returncode == code, done.stderr
    asked = tmp_path / "asked"
    orders = [line for line in asked.read_text().splitlines() if "show" not in line] if asked.exists() else []
    assert orders == ([] if requeued is None else [f"requeue {requeued}"])
    assert ("preempted: job" in done.stderr) is (requeued is not None)


def test_a_controller_that_does_not_answer_changes_no_exit_code(tmp_path: Path):
    for name, code in (("srun", 9), ("scontrol", 1)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    assert run_batch(render_slurm_batch(job()), tmp_path).returncode == 9


def test_a_whole_command_is_no_script_for_torchrun():
    text = render_slurm_batch(job(script=None, command=["accelerate", "launch", "a b.py"]))
    assert "--command \\\n  -- accelerate launch 'a b.py' || code=$?\n" in text
    assert "--command" not in render_slurm_batch(job())


def test_a_container_has_the_folders_and_variables_of_the_job():
    step = render_slurm_batch(job()).partition(JOB_ENTRY)[2].partition(" || ")[0]
    entry = shlex.split(step.replace("\\\n", ""))
    image = entry[entry.index("--image") + 1]
    assert image == "docker://444455556666.dkr.ecr.us-east-2.amazonaws.com#team/vision:2.3.1"
    assert entry[entry.index("--mount") + 1] == "/lustre"
    exported = {entry[number + 1] for number, word in enumerate(entry) if word == "--export"}
    assert {"NCCL_DEBUG", "FI_PROVIDER", "CHECKPOINT_PATH"} <= exported


@pytest.mark.parametrize("how", [{"venv": "/fsx/envs/a"}, {"image_file": "/fsx/a.sqsh"}])
def test_what_is_on_shared_storage_is_taken_in_place_of_the_image(how: dict[str, str]):
    text = render_slurm_batch(job(), batch=SlurmBatch(**how))
    assert "docker://" not in text
    assert next(iter(how.values())) in text


def test_enroot_separates_the_registry():
    assert enroot_uri("nvcr.io/nvidia/pytorch:25.01") == "docker://nvcr.io#nvidia/pytorch:25.01"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"partition": "a b"}, "partition: must be names with commas between them, such as train, got 'a b'"),
        ({"partition": "a\n#SBATCH --uid=0"}, "partition: must be names"),
        ({"generic_resources": "gpu"}, "generic_resources: must be a name and a number, such as gpu:8"),
        ({"venv": "envs/train"}, "venv: must be an absolute path of letters"),
        ({"image_file": "/fsx/a b.sqsh"}, "image_file: must be an absolute path of letters"),
        ({"log_folder": "/fsx/%u"}, "log_folder: must be an absolute path of letters"),
        ({"venv": "/a", "image_file": "/b"}, "venv: excludes image_file; give one of them"),
    ],
)
def test_what_no_batch_file_takes_is_refused(how: dict[str, str], said: str):
    with pytest.raises(InvalidInputError) as caught:
        SlurmBatch(**how)
    assert said in str(caught.value)


def test_all_that_is_wrong_is_said_together():
    with pytest.raises(InvalidInputError) as caught:
        SlurmBatch(partition="-", venv="a", image_file="b", log_folder="c")
    assert len(caught.value.faults) == 5


@pytest.mark.parametrize("partition", ["train", "train,dev", "p5-48xlarge_a.1"])
def test_partitions_as_slurm_takes_them(partition: str):
    assert f"--partition={partition}" in options_of(
        render_slurm_batch(job(), batch=SlurmBatch(partition=partition))
    )


class TestFaults:
    """What of a job is not for Slurm."""

    def found(self, spec: JobSpec, severity: str, **how: str) -> dict[str, str]:
        faults = faults_on_slurm(spec, SlurmBatch(**how))
        return {str(fault.path[0]): fault.message for fault in faults if fault.severity == severity}

    def test_a_plain_job_has_none(self):
        assert faults_on_slurm(job(), SlurmBatch()) == []

    @pytest.mark.parametrize("name", ["elastic", "tiered", "checkpointless"])
    def test_what_only_eks_has_is_refused(self, name: str):
        errors = self.found(example(name), "error")
        assert errors
        assert all(
            "is there on clusters with EKS only" in text or "are there" in text for text in errors.values()
        )

    def test_partitions_of_gpus_are_refused(self):
        spec = job(gpu_partition="mig-1g.10gb", accelerators=1, nodes=1)
        assert "leave it out and say accelerators" in self.found(spec, "error")["gpu_partition"]

    def test_a_digest_is_refused_unless_the_image_is_elsewhere(self):
        spec = job(image="444455556666.dkr.ecr.us-east-2.amazonaws.com/vision@sha256:" + "a" * 64)
        assert "must have a tag" in self.found(spec, "error")["image"]
        assert self.found(spec, "error", image_file="/fsx/a.sqsh") == {}
        assert self.found(spec, "error", venv="/fsx/a") == {}

    def test_a_script_in_an_image_that_is_not_there_is_said(self):
        assert self.found(job(), "warning") == {}
        said = self.found(job(), "warning", venv="/lustre/env")["script"]
        assert said.startswith("must be on shared storage where --venv is in place of the image, got")
        for script in ("/lustre/code/train.py", "train.py"):
            assert self.found(job(script=script), "warning", venv="/lustre/env") == {}
        assert self.found(job(script=None, command=["/app/a"]), "warning", venv="/lustre/env") == {}

    @pytest.mark.parametrize(
        ("changes", "name"),
        [
            ({"script_args": ["--run", "$(RUN_ID)"]}, "script_args"),
            ({"environment": {"A": "b", "C": "x-$(A)"}}, "environment"),
            ({"script": None, "command": ["torchrun", "--rdzv-id=$(A)", "/app/a.py"]}, "command"),
        ],
    )
    def test_what_only_kubernetes_expands_is_refused(self, changes: dict[str, Any], name: str):
        said = self.found(job(**changes), "error")[name]
        assert "which only Kubernetes expands; write the value, or have a script read the variable" in said

    def test_other_dollars_are_taken_as_they_are(self):
        assert faults_on_slurm(job(script_args=["$HOME", "$$(A)", "$(a b)", "$"]), SlurmBatch()) == []

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            (
                "PATH",
                "is what the batch file finds srun by; have the image set it, or the command, as env does",
            ),
            ("UID", "is a variable that bash lets nobody set; leave it out"),
            ("SLURM_JOB_ID", "is set by Slurm, whose commands read it; leave it out"),
        ],
    )
    def test_a_variable_that_would_keep_the_job_from_its_step_is_refused(self, name: str, said: str):
        (fault,) = faults_on_slurm(job(environment={name: "1"}), SlurmBatch())
        assert (fault.path, fault.message, fault.severity) == (("environment", name), said, "error")

    def test_other_variables_are_the_jobs_own(self):
        names = ("PYTHONPATH", "HOME", "MY_PATH", "MYUID", "SRUN_X", "NCCL_ALGO")
        assert faults_on_slurm(job(environment=dict.fromkeys(names, "1")), SlurmBatch()) == []

    def test_bash_refuses_what_is_said_to_be_its_own(self):
        for name in SHELL_VARIABLES:
            done = subprocess.run(
                ["bash", "-c", f"export {name}=1"], capture_output=True, text=True, check=False
            )
            assert "readonly variable" in done.stderr, name

    def test_sigterm_does_not_come_as_the_job_begins(self):
        assert faults_on_slurm(job(active_deadline_seconds=181), SlurmBatch()) == []
        said = self.found(job(active_deadline_seconds=180), "error")["active_deadline_seconds"]
        assert said.startswith(
            "must be more than 180, got 180: Slurm sends SIGTERM grace_period_seconds (120)"
        )
        assert self.found(job(active_deadline_seconds=180, grace_period_seconds=30), "error") == {}

    def test_a_grace_period_is_one_that_sbatch_takes(self):
        assert faults_on_slurm(job(grace_period_seconds=65535), SlurmBatch()) == []
        said = self.found(job(grace_period_seconds=65536), "error")["grace_period_seconds"]
        assert said == "must be at most 65535, which --signal of sbatch takes, got 65536"

    def test_a_folder_that_is_not_only_read_is_said(self):
        claims: list[dict[str, Any]] = [
            {"claim_name": "a", "mount_path": "/lustre"},
            {"claim_name": "b", "mount_path": "/b"},
        ]
        assert faults_on_slurm(job(persistent_volume_claims=claims), SlurmBatch()) == []
        claims[1]["read_only"] = True
        (fault,) = faults_on_slurm(job(persistent_volume_claims=claims), SlurmBatch())
        assert fault.path == ("persistent_volume_claims", 1, "read_only")
        assert "the job writes below /b where its user may" in fault.message
        assert fault.severity == "warning"

    def test_every_field_has_a_place(self):
        """A field that is added to job specifications is rendered, refused or said to be left out."""
        rendered = {
            *("name", "image", "instance_type", "nodes", "accelerators", "processes_per_node"),
            *("script", "script_args", "command", "environment", "persistent_volume_claims"),
            *("grace_period_seconds", "active_deadline_seconds", "auto_resume", "checkpoint"),
        }
        judged = {"operator", "spares", "rendezvous"}
        # The specification is checked against these, and nothing is rendered of them.
        checked = {
            *("capacity_type", "operator_version", "elastic_agent_version", "torch_version"),
            *("python_version", "log_monitoring"),
        }
        always = {"host_network"}
        assert (
            rendered | judged | checked | always
            == JobSpec.model_fields.keys() - EKS_ONLY.keys() - LEFT_OUT.keys()
        )

    def test_what_is_left_out_is_said_where_the_job_says_it(self):
        spec = job(service_account="trainer", topology={"layer": 3}, labels={"team": "a"})
        warnings = self.found(spec, "warning")
        assert set(warnings) == {"service_account", "topology", "labels"}
        assert "execution role of their instance group" in warnings["service_account"]
        parts = {
            "vcpu": 8,
            "memory_gib": 64,
            "shared_memory_gib": 16,
            "huge_pages_mib": 64,
            "efa_interfaces": 32,
        }
        spec = job(**parts, rendezvous="master", rendezvous_id="a")
        assert self.found(spec, "warning").keys() == {*parts, "rendezvous", "rendezvous_id"}


def slurm_cluster(**changes: Any) -> ClusterSpec:
    loaded = load_cluster(ROOT / "examples" / "clusters" / "llm-train.yaml").spec
    return loaded if not changes else loaded.model_copy(update=changes)


class TestOnCluster:
    """A job against the Slurm cluster that it is to run on."""

    def found(self, spec: JobSpec, cluster: ClusterSpec, **how: str) -> list[str]:
        return [str(fault) for fault in faults_on_slurm_cluster(spec, SlurmBatch(**how), cluster)]

    def test_a_job_that_fits(self):
        assert self.found(job(nodes=16), slurm_cluster()) == []
        assert self.found(job(nodes=16), slurm_cluster(), partition="train") == []
        assert partition_on(job(), slurm_cluster()) == "train"

    def test_more_nodes_than_there_are(self):
        assert self.found(job(nodes=17), slurm_cluster()) == [
            "nodes: must be at most 16, which partition train has, got 17"
        ]

    def test_a_type_that_is_not_there(self):
        assert self.found(job(instance_type="ml.p4d.24xlarge"), slurm_cluster()) == [
            "instance_type: no compute group of the cluster has ml.p4d.24xlarge"
        ]

    def test_a_partition_without_such_nodes(self):
        assert self.found(job(), slurm_cluster(), partition="train,test") == [
            "partition test has no ml.p5.48xlarge; choose from train"
        ]

    def test_a_cluster_with_eks(self):
        cluster = load_cluster(ROOT / "examples" / "clusters" / "llm-train-eks.yaml").spec
        assert self.found(job(), cluster) == [
            "is to be a batch file, and the cluster runs EKS; leave --slurm out"
        ]

    def test_partitions_that_only_scripts_know(self):
        cluster = slurm_cluster()
        groups = [
            group.model_copy(update={"partition_names": (), "node_type": None})
            for group in cluster.instance_groups
        ]
        cluster = cluster.model_copy(update={"instance_groups": groups})
        assert partition_on(job(), cluster) is None
        assert self.found(job(nodes=16), cluster, partition="any") == []
        assert self.found(job(nodes=17), cluster) == [
            "nodes: must be at most 16, which the cluster has, got 17"
        ]
