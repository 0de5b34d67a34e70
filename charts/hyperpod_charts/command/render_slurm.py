"""`hyperpod-jobs render --slurm`: a job's batch file, and its way to `sbatch`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Final

from hyperpod_charts.command.fault_lines import show
from hyperpod_charts.command.inputs import cluster_of, job_content_of, judged
from hyperpod_charts.slurm_batch import SlurmBatch, render_slurm_batch
from hyperpod_charts.slurm_batch_faults import faults_on_slurm, faults_on_slurm_cluster, partition_on
from hyperpod_model.cluster_spec import ClusterSpec
from hyperpod_model.command_line.output import emit, write
from hyperpod_model.command_line.parser import UsageError
from hyperpod_model.faults import Fault, InvalidInputError
from hyperpod_model.job_spec import JobSpec, parse_job

_NONE: Final = "none"
_SBATCH_SECONDS: Final = 120
_OPTIONS: Final = {
    "partition": "--partition",
    "generic_resources": "--gres",
    "venv": "--venv",
    "image_file": "--image-file",
    "log_folder": "--log-folder",
}


def run(options: Namespace) -> int:
    """Render a job's batch file, and submit it where asked.

    Returns:
        The exit code: 0, or 1 for a job that is refused, here or by ``sbatch``.

    Raises:
        UsageError: If an option is wrong, or there is no ``sbatch`` or no folder for the log.
        UnusableInputError: If the job cannot be read.
    """
    if options.submit and shutil.which("sbatch") is None:
        raise UsageError(
            "--submit needs sbatch, which is not here; run it on a login node, or leave --submit out and "
            "hand the file to sbatch there"
        )
    batch = _batch_of(options)
    if options.submit and batch.log_folder is not None and not Path(batch.log_folder).is_dir():
        raise UsageError(
            f"--log-folder must be a folder that is there, got {batch.log_folder}: Slurm ends a job whose "
            "log it cannot open, without a word; make it, or see whether it is mounted here"
        )
    cluster = cluster_of(options.cluster)
    content, name = job_content_of(options.job)
    # Not against the cluster: for a batch file, other things count.
    job = judged(content, name, None)
    more = [] if job.spec is None else _more_faults(job.spec, batch, cluster)
    document = None if job.spec is None else parse_job(content, name=name).document
    lines = [
        fault if document is None or not fault.path else fault._replace(line=document.line(fault.path))
        for fault in more
    ]
    show([*job.faults, *lines], name, sys.stderr)
    if job.spec is None or job.is_refused or any(fault.severity == "error" for fault in more):
        print(f"{name}: refused, nothing is rendered", file=sys.stderr)
        return 1
    if batch.partition is None and cluster is not None:
        batch = replace(batch, partition=partition_on(job.spec, cluster))
    text = render_slurm_batch(job.spec, batch=batch)
    if options.output is not None:
        write(text, options.output)
    elif not options.submit:
        emit(text)
    return _submit(text, job.spec.name) if options.submit else 0


def _more_faults(job: JobSpec, batch: SlurmBatch, cluster: ClusterSpec | None) -> list[Fault]:
    there = [] if cluster is None else faults_on_slurm_cluster(job, batch, cluster)
    return [*faults_on_slurm(job, batch), *there]


def _batch_of(options: Namespace) -> SlurmBatch:
    try:
        return SlurmBatch(
            partition=options.partition,
            generic_resources="" if options.gres == _NONE else options.gres,
            venv=options.venv,
            image_file=options.image_file,
            log_folder=options.log_folder,
        )
    except InvalidInputError as error:
        raise UsageError(
            "\n".join(f"{_OPTIONS[str(fault.path[0])]} {fault.message}" for fault in error.faults)
        ) from error


def _submit(text: str, job: str) -> int:
    try:
        done = subprocess.run(
            ["sbatch", "--parsable"],
            input=text,
            capture_output=True,
            text=True,
            timeout=_SBATCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(
            f"{job}: sbatch gave no answer within {_SBATCH_SECONDS} seconds; see with squeue whether it was "
            "submitted all the same before you try again",
            file=sys.stderr,
        )
        return 1
    if done.returncode != 0:
        print(f"{job}: refused by sbatch: {done.stderr.strip()}", file=sys.stderr)
        return 1
    # With several clusters, sbatch writes the cluster's name after a semicolon.
    print(f"submitted as job {done.stdout.strip().partition(';')[0]}")
    return 0
