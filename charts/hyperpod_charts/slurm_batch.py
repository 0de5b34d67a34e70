"""A job specification as a batch file for ``sbatch``."""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import dataclass
from typing import Final

from hyperpod_model.catalog.instances import instance_type
from hyperpod_model.catalog.nodes import AUTO_RESUME_OPTION, RESOURCE_CONFIG_PATH
from hyperpod_model.faults import Fault, InvalidInputError
from hyperpod_model.job_spec import JobSpec

JOB_ENTRY: Final = "/opt/hyperpod/train_entry.sh"
"""Where the lifecycle scripts install the job entry on every node."""

_OF_OTHER_JOBS: Final = (
    "SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK SLURM_THREADS_PER_CORE SLURM_HINT",
    "SLURM_DISTRIBUTION SLURM_NTASKS_PER_CORE SLURM_NTASKS_PER_SOCKET SLURM_NTASKS_PER_GPU",
    "SLURM_MEM_PER_NODE SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_CPUS_PER_GPU SLURM_GPUS",
    "SLURM_GPUS_PER_NODE SLURM_GPUS_PER_SOCKET SLURM_GPUS_PER_TASK SLURM_GPU_BIND SLURM_CPU_BIND",
    "SLURM_MEM_BIND",
)
"""Variables that ``salloc``, ``sbatch`` and ``srun`` leave to what is submitted from within a job. ``srun``
takes them for options, and ``sbatch`` sets them anew only where its own job asks for such things.

Source: ``man srun`` and ``man salloc`` of Slurm 22.05; newer ones have SLURM_TRES_PER_TASK for CPUs.
"""

_PARTITION: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(,[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
_RESOURCES: Final = re.compile(r"[A-Za-z][\w-]*(:[\w.-]+)?:[1-9]\d*")
_PATH: Final = re.compile(r"/[\w./+@=,-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmBatch:
    """How a job runs on a Slurm cluster, beyond what its specification says.

    Attributes:
        partition: Partition or partitions, with commas between them. By default that of the cluster's
            configuration.
        generic_resources: What each node gives, such as ``gpu:8``; empty for none, where Slurm knows of none.
            By default all GPUs that the job takes, and none for Trainium, for which no name is common.
        venv: Python environment on shared storage, which has PyTorch, in place of the job's image. By default
            none.
        image_file: Container image as a file of ``enroot`` on shared storage. By default each node fetches
            the job's image.
        log_folder: Folder on shared storage for the log of the job, and of each node. By default one log, in
            the folder that the job is submitted from.

    Raises:
        InvalidInputError: If a value is none that a batch file takes.
    """

    partition: str | None = None
    generic_resources: str | None = None
    venv: str | None = None
    image_file: str | None = None
    log_folder: str | None = None

    def __post_init__(self) -> None:
        faults = [
            *_unlike(
                "partition", self.partition, _PARTITION, "names with commas between them, such as train"
            ),
            *_unlike(
                "generic_resources",
                None if self.generic_resources == "" else self.generic_resources,
                _RESOURCES,
                "a name and a number, such as gpu:8, or nothing for none",
            ),
        ]
        for name in ("venv", "image_file", "log_folder"):
            faults += _unlike(
                name, getattr(self, name), _PATH, "an absolute path of letters, digits and ./+@=,_-"
            )
        if self.venv is not None and self.image_file is not None:
            faults.append(Fault(("venv",), "excludes image_file; give one of them"))
        if faults:
            raise InvalidInputError(faults)


def render_slurm_batch(job: JobSpec, *, batch: SlurmBatch | None = None) -> str:
    """Write the batch file of a job, the same text for the same job.

    It asks for whole nodes with one task each, goes on after a requeue and appends to its log. On HyperPod,
    its one step is run again after a node was replaced. Everything that a node needs happens in that step,
    by :data:`JOB_ENTRY`.

    Args:
        job: The job, without errors of :func:`hyperpod_charts.slurm_batch_faults.faults_on_slurm`.
        batch: How it runs. Default as :class:`SlurmBatch` has it.
    """
    how = SlurmBatch() if batch is None else batch
    parts = [
        ["#!/bin/bash", f"# Job {job.name}, by hyperpod-jobs render --slurm.", *_options(job, how)],
        ["set -euo pipefail"],
        _inherited(),
        _limit(job),
        [f"export {name}={shlex.quote(value)}" for name, value in _environment(job).items()],
        _step(job, how),
        _preempted(job),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def on_the_nodes(job: JobSpec) -> JobSpec:
    """Return a job as it is without Kubernetes: its processes are in the network of the nodes.

    Args:
        job: The job.
    """
    return job.model_copy(update={"host_network": True})


def _options(job: JobSpec, how: SlurmBatch) -> list[str]:
    folder = "" if how.log_folder is None else f"{how.log_folder.rstrip('/')}/"
    resources = _generic_resources(job) if how.generic_resources is None else how.generic_resources
    options = [
        f"--job-name={job.name}",
        f"--partition={how.partition}" if how.partition is not None else None,
        f"--nodes={job.max_nodes}",
        "--ntasks-per-node=1",
        "--exclusive",
        # Whole nodes have their CPUs, but a partition may have a default of memory.
        "--mem=0",
        f"--gres={resources}" if resources else None,
        "--no-requeue" if job.auto_resume is None else "--requeue",
        "--open-mode=append",
        f"--output={folder}%x-%j.out",
        # To the step's processes before the time limit, and before preemption where Slurm is so configured.
        f"--signal=TERM@{job.grace_period_seconds}",
    ]
    if job.active_deadline_seconds is not None:
        options.append(f"--time={math.ceil(job.active_deadline_seconds / 60)}")
    return [f"#SBATCH {option}" for option in options if option is not None]


def _generic_resources(job: JobSpec) -> str:
    accelerator = instance_type(job.instance_type).accelerator
    count = job.resources().accelerators
    return f"gpu:{count}" if accelerator is not None and accelerator.kind != "neuron" and count else ""


def _inherited() -> list[str]:
    return [
        "# The shell that submitted this may be in a smaller job: the step gets all of its own nodes.",
        "unset " + " \\\n  ".join(_OF_OTHER_JOBS),
    ]


def _limit(job: JobSpec) -> list[str]:
    if job.auto_resume is None:
        return []
    return [
        "# A job that cannot run gives its nodes back.",
        f"if ((${{SLURM_RESTART_COUNT:-0}} > {job.max_retries})); then",
        f'  echo "requeued $SLURM_RESTART_COUNT times, and auto_resume.max_retries is {job.max_retries}" >&2',
        "  exit 1",
        "fi",
    ]


def _environment(job: JobSpec) -> dict[str, str]:
    return on_the_nodes(job).environment_variables()


def _step(job: JobSpec, how: SlurmBatch) -> list[str]:
    lines = []
    # Without --export, the step of a job that was submitted with --export=NONE has no variables.
    srun = ["srun", "--export=ALL", "--ntasks-per-node=1", "--kill-on-bad-exit=1"]
    if job.auto_resume is None:
        srun.insert(0, "exec")
    else:
        lines = [
            "# HyperPod's srun runs the step again after it replaced a node; any other refuses the option.",
            "resume=()",
            f"if [[ -e {RESOURCE_CONFIG_PATH} ]] ||",
            f"  srun {AUTO_RESUME_OPTION} --version >/dev/null 2>&1; then",
            f"  resume=({AUTO_RESUME_OPTION})",
            "fi",
            "# SIGTERM is for the step, whose end counts.",
            "trap : TERM",
            "code=0",
        ]
        srun.insert(1, '"${resume[@]}"')
    command = [" ".join([*srun, JOB_ENTRY]), *_entry_options(job, how)]
    launch = job.launch()
    words = launch.args if job.script is not None else launch.command
    if job.script is None:
        command.append("--command")
    command.append(" ".join(["--", *map(shlex.quote, words)]))
    if job.auto_resume is not None:
        command[-1] += " || code=$?"
    return [*lines, " \\\n  ".join(command)]


def _preempted(job: JobSpec) -> list[str]:
    if job.auto_resume is None:
        return []
    return [
        "# Slurm takes a job that saves and ends within the grace time of a preemption for one that failed.",
        "job=$SLURM_JOB_ID",
        "# The first job of an array has the array's id.",
        'if [[ ${SLURM_ARRAY_JOB_ID:-} == "$job" ]]; then',
        "  job+=_$SLURM_ARRAY_TASK_ID",
        "fi",
        'if ((code)) && [[ $(timeout 30 scontrol show job "$job") =~ PreemptTime=[0-9] ]]; then',
        '  echo "preempted: job $job ended with $code and is requeued" >&2',
        '  timeout 30 scontrol requeue "$job"',
        "fi",
        'exit "$code"',
    ]


def _entry_options(job: JobSpec, how: SlurmBatch) -> list[str]:
    options = [f"--processes-per-node {job.launch().nproc_per_node}"]
    if how.venv is not None:
        options.append(f"--venv {shlex.quote(how.venv)}")
    else:
        image = enroot_uri(job.image) if how.image_file is None else how.image_file
        options.append(f"--image {shlex.quote(image)}")
        options += [f"--mount {shlex.quote(claim.mount_path)}" for claim in job.persistent_volume_claims]
        options += [f"--export {name}" for name in _environment(job)]
    if how.log_folder is not None:
        options.append(f"--log-folder {shlex.quote(how.log_folder)}")
    return options


def enroot_uri(image: str) -> str:
    """Write an image's name as ``enroot import`` takes it, with ``#`` after the registry.

    Source: NVIDIA/enroot, ``doc/cmd/import.md``.

    Args:
        image: Registry, name and tag.
    """
    registry, _, name = image.partition("/")
    return f"docker://{registry}#{name}"


def _unlike(name: str, value: str | None, pattern: re.Pattern[str], allowed: str) -> list[Fault]:
    if value is None or pattern.fullmatch(value):
        return []
    return [Fault((name,), f"must be {allowed}, got {value!r}")]
