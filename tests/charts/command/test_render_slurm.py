"""`hyperpod-jobs render --slurm`: a batch file, and its way to a stand-in for ``sbatch``.

The real one takes it in ``tests/lifecycle/slurm/test_real_slurm.py``.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hyperpod_charts.command.arguments import OF_SLURM, parsed
from hyperpod_charts.slurm_batch import SlurmBatch, render_slurm_batch
from hyperpod_model.job_spec import load_job

ROOT = Path(__file__).parents[3]
CLUSTER = ROOT / "examples" / "clusters" / "llm-train.yaml"


@pytest.fixture
def job(job):
    """A job that nothing is to be said about on Slurm."""
    return {name: value for name, value in job.items() if name not in ("service_account", "topology")}


@pytest.fixture
def sbatch(folder, monkeypatch):
    """A stand-in for sbatch that keeps what it gets; with ``answers`` as its script."""

    def answers(script: str) -> Path:
        programs = folder / "programs"
        programs.mkdir(exist_ok=True)
        program = programs / "sbatch"
        program.write_text(f'#!/bin/sh\necho "$@" >{folder}/options\ncat >{folder}/got\n{script}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
        return folder / "got"

    return answers


def test_a_batch_file_is_what_the_library_makes_of_it(save, run, folder, job):
    ran = run("render", save("job.yaml", job), "--slurm")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == render_slurm_batch(load_job(folder / "job.yaml"))


def test_a_batch_file_needs_no_node_js(save, job):
    program = (
        "import sys\nfrom hyperpod_charts.command import main\n"
        "code = main(sys.argv[1:])\nsys.exit(code if 'jsii' not in sys.modules else 9)\n"
    )
    command = [sys.executable, "-c", program, "render", save("job.yaml", job), "--slurm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("#!/bin/bash\n")


def test_options_reach_the_batch_file(save, run, folder, job):
    name = save("job.yaml", {**job, "script": "/lustre/train.py"})
    options = "--slurm --partition p5 --gres none --venv /lustre/env --log-folder /lustre/logs"
    ran = run("render", name, *options.split(), "--output", "job.sbatch")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    how = SlurmBatch(partition="p5", generic_resources="", venv="/lustre/env", log_folder="/lustre/logs")
    assert (folder / "job.sbatch").read_text() == render_slurm_batch(load_job(folder / "job.yaml"), batch=how)


def test_the_cluster_tells_the_partition(save, run, job):
    ran = run("render", save("job.yaml", job), "--slurm", "--cluster", str(CLUSTER))
    assert (ran.code, ran.err) == (0, "")
    assert "#SBATCH --partition=train\n" in ran.out


def test_the_cluster_refuses_what_does_not_fit(save, run, job):
    ran = run("render", save("job.yaml", {**job, "nodes": 99}), "--slurm", "--cluster", str(CLUSTER))
    assert (ran.code, ran.out) == (1, "")
    assert "error: nodes: must be at most 16, which partition train has, got 99" in ran.err
    assert ran.err.splitlines()[-1] == "job.yaml: refused, nothing is rendered"


def test_warnings_and_errors_name_their_lines(save, run, job):
    text = (
        f"name: vision\nimage: {job['image']}\ninstance_type: ml.p5.48xlarge\nnodes: 3\n"
        "script: /app/train.py\nservice_account: trainer\noperator: hyperpod\nnamespace: training\n"
    )
    ran = run("render", save("job.yaml", text), "--slurm")
    assert ran.code == 1
    assert "job.yaml:7: error: operator: 'hyperpod' is there on clusters with EKS only" in ran.err
    assert "job.yaml:6: warning: service_account: is left out of a batch file" in ran.err


def test_a_wrong_job_is_refused_as_ever(save, run, job):
    ran = run("render", save("job.yaml", {**job, "nodes": 0}), "--slurm")
    assert (ran.code, ran.out) == (1, "")
    assert "error: nodes: must be 1 or more, got 0" in ran.err


def test_sbatch_gets_the_batch_file(save, run, folder, job, sbatch):
    got = sbatch("echo '1234;cluster'")
    ran = run("render", save("job.yaml", job), "--slurm", "--submit", "--output", "job.sbatch")
    assert (ran.code, ran.out, ran.err) == (0, "submitted as job 1234\n", "")
    assert got.read_text() == (folder / "job.sbatch").read_text()
    assert (folder / "options").read_text() == "--parsable\n"


def test_what_sbatch_refuses_is_said(save, run, job, sbatch):
    sbatch("echo 'sbatch: error: invalid partition specified: p9' >&2; exit 1")
    ran = run("render", save("job.yaml", job), "--slurm", "--submit", "--partition", "p9")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "vision: refused by sbatch: sbatch: error: invalid partition specified: p9\n"


def test_a_refused_job_is_not_submitted(save, run, job, sbatch):
    got = sbatch("echo 1")
    assert run("render", save("job.yaml", {**job, "nodes": 0}), "--slurm", "--submit").code == 1
    assert not got.exists()


def test_without_sbatch_there_is_another_way(save, run, job, monkeypatch, folder):
    monkeypatch.setenv("PATH", str(folder))
    ran = run("render", save("job.yaml", job), "--slurm", "--submit")
    assert ran.code == 2
    assert "--submit needs sbatch, which is not here; run it on a login node" in ran.err


def test_a_job_is_submitted_only_where_its_log_can_be(save, run, folder, job, sbatch):
    got = sbatch("echo 1")
    logs = folder / "logs"
    options = ("render", save("job.yaml", job), "--slurm", "--log-folder", str(logs))
    ran = run(*options, "--submit")
    assert (ran.code, ran.out) == (2, "")
    assert (
        f"--log-folder must be a folder that is there, got {logs}: Slurm ends a job whose log it cannot open"
        in ran.err
    )
    assert not got.exists()
    assert run(*options).code == 0, "the file may be written where the folder is not"
    logs.mkdir()
    assert run(*options, "--submit").code == 0
    assert got.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--submit",), "--submit goes with --slurm only; add it"),
        (("--partition", "a", "--venv", "/a"), "--partition, --venv goes with --slurm only; add it"),
        (
            ("--slurm", "--no-network-policy"),
            "--no-network-policy is for manifests; leave it out with --slurm",
        ),
        (("--slurm", "--gres", "gpu"), "--gres must be a name and a number, such as gpu:8"),
        (("--slurm", "--venv", "a", "--image-file", "/b"), "--venv must be an absolute path"),
    ],
)
def test_options_that_do_not_go_together(save, run, job, options, said):
    ran = run("render", save("job.yaml", job), *options)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


PAGE = (ROOT / "docs" / "slurm-jobs.md").read_text()


@pytest.mark.parametrize("command", re.findall(r"^hyperpod-jobs .*$", PAGE, re.MULTILINE))
def test_a_command_on_the_page_is_one_that_can_be_given(command):
    assert parsed(shlex.split(command)[1:]).slurm


def test_the_batch_file_on_the_page_is_what_is_rendered(run):
    job = str(ROOT / "examples" / "jobs" / "ddp-pretrain.yaml")
    image = "/fsx/images/ddp-pretrain-1.0.0.sqsh"
    options = ("--image-file", image, "--log-folder", "/fsx/logs", "--cluster", str(CLUSTER))
    ran = run("render", job, "--slurm", *options)
    assert f"```bash\n{ran.out}```" in PAGE


def test_every_option_is_on_the_page():
    assert all(f"`{option}" in PAGE for option in OF_SLURM)
