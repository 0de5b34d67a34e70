"""Every job in `examples/jobs` is clean alone, on its cluster and rendered; what it shows is so."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from hyperpod_charts.command import main
from hyperpod_charts.rendering import render
from hyperpod_model.cluster_spec import load_cluster
from hyperpod_model.job_spec import JobSpec, check_job_on_cluster, load_job, node_setup_on, read_job

ROOT = Path(__file__).parents[3]
JOBS = sorted((ROOT / "examples" / "jobs").glob("*.yaml"))
LAUNCH = ROOT / "examples" / "recipes" / "launch.sh"
COMMAND = re.compile(r"^# +hyperpod-jobs (render (\S+) --cluster (\S+))$", re.MULTILINE)

every_job = pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)


def _command(path: Path) -> tuple[list[str], Path]:
    """The command that an example's head shows, and the cluster in it."""
    found = COMMAND.search(path.read_text())
    assert found is not None, "the head shows no command"
    assert ROOT / found[2] == path
    return found[1].split(), ROOT / found[3]


def test_each_kind_of_job_is_shown():
    jobs = {path.stem: load_job(path) for path in JOBS}
    assert jobs["ddp-pretrain"].max_nodes == 2
    assert jobs["fsdp"].max_nodes == 16
    assert (jobs["elastic"].min_nodes, jobs["elastic"].max_nodes) == (2, 8)
    assert jobs["checkpointless"].checkpointless is not None
    assert jobs["tiered"].tiered_checkpointing is not None
    assert jobs["trainium"].resources().accelerator_resource == "aws.amazon.com/neurondevice"


@every_job
def test_a_job_is_clean_alone(path):
    assert read_job(path).findings == ()


@every_job
def test_a_job_is_clean_on_its_cluster(path):
    _, cluster = _command(path)
    assert check_job_on_cluster(load_job(path), load_cluster(cluster).spec) == []


@every_job
def test_the_command_in_its_head_renders_it(path, monkeypatch, capsys):
    command, cluster = _command(path)
    monkeypatch.chdir(ROOT)
    assert main(command) == 0
    captured = capsys.readouterr()
    job = load_job(path)
    assert captured.out == render(job, node=node_setup_on(load_cluster(cluster).spec, job.instance_type))
    assert captured.err == ""


@every_job
@pytest.mark.parametrize("with_cluster", [True, False], ids=["with cluster", "alone"])
def test_what_is_rendered_is_clean(path, with_cluster, save, run):
    _, cluster = _command(path)
    options = ("--cluster", str(cluster)) if with_cluster else ()
    manifests = run("render", str(path), *options).out
    ran = run("validate", save("manifests.yaml", manifests), "--fail-on", "advice", "--format", "json")
    assert ran.code == 0
    assert {finding["outcome"] for finding in ran.json["findings"]} <= {"undetermined"}


@every_job
def test_editors_find_the_schema(path):
    first = path.read_text().splitlines()[0]
    found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert found is not None
    assert (path.parent / found[1]).resolve().name == "job-spec.schema.json"
    assert (path.parent / found[1]).resolve().is_file()


def test_whole_folders_of_examples_are_validated(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["validate", "examples/jobs"]) == 0
    assert f"{len(JOBS)} job specifications" in capsys.readouterr().out


def _launched(tmp_path: Path, **variables: str) -> dict[str, str]:
    """Run the launcher script with a stand-in for the recipes' launcher, and return the overrides it got."""
    launcher = tmp_path / "main.py"
    launcher.write_text("import json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    ran = subprocess.run(
        ["bash", str(LAUNCH), "recipes.trainer.precision=bf16"],
        env={**os.environ, "RECIPES": str(tmp_path), "PYTHON": "python", **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(override.split("=", 1) for override in yaml.safe_load(ran.stdout))


def test_a_recipe_is_launched_where_the_cluster_expects_jobs(tmp_path):
    said = _launched(tmp_path, IMAGE="111122223333.dkr.ecr.us-west-2.amazonaws.com/recipes:1")
    cluster = yaml.safe_load((ROOT / "examples/jobs/clusters/kubeflow.yaml").read_text())
    pods = cluster["training_pods"]
    assert said["cluster.namespace"] == pods["namespace"]
    assert said["cluster.service_account_name"] == pods["service_account"]
    assert said["container"] == "111122223333.dkr.ecr.us-west-2.amazonaws.com/recipes:1"
    assert said["recipes.trainer.precision"] == "bf16"  # what a user adds comes last, and wins


def test_a_recipe_gets_the_labels_and_annotations_of_our_own_jobs(tmp_path):
    said = _launched(tmp_path, IMAGE="a/b:1")
    job: JobSpec = load_job(ROOT / "examples/jobs/ddp-pretrain.yaml")
    assert yaml.safe_load(said["cluster.annotations"].replace(":", ": ")) == job.annotations_of_job()
    required = yaml.safe_load(said["cluster.label_selector"].replace(":", ": "))["required"]
    assert required == {key: [value] for key, value in job.placement().node_selector.items()}
    (claim,) = yaml.safe_load(said["cluster.persistent_volume_claims"].replace(":", ": "))
    assert claim == {"claimName": job.persistent_volume_claims[0].claim_name, "mountPath": "fsx"}


@pytest.mark.parametrize("missing", ["RECIPES", "IMAGE"])
def test_a_recipe_is_not_launched_without_what_only_the_user_knows(tmp_path, missing):
    variables = {"RECIPES": str(tmp_path), "IMAGE": "a/b:1", "PATH": os.environ["PATH"]}
    del variables[missing]
    ran = subprocess.run(["bash", str(LAUNCH)], env=variables, capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert missing in ran.stderr
