"""The Dockerfiles in `examples/images`: pinned, not root, and with what the jobs of these images name."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hyperpod_model.checks.jobs.job import check_job
from hyperpod_model.job_spec import load_job
from hyperpod_model.job_spec.plain_values import plain_values

ROOT = Path(__file__).parents[3]
IMAGES = sorted((ROOT / "examples" / "images").glob("*/Dockerfile"))
JOBS = {"ddp": "ddp-pretrain", "tiered": "tiered"}
HADOLINT = Path(sys.executable).with_name("hadolint")

every_image = pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.parent.name)


def instructions(text: str) -> list[tuple[str, str]]:
    """Instructions of a Dockerfile with their arguments, comments left out and continued lines joined."""
    plain = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\s*\\\n\s*", " ", plain)
    found = (line.strip().split(None, 1) for line in joined.splitlines() if line.strip())
    return [(parts[0].upper(), parts[1] if len(parts) > 1 else "") for parts in found]


def of_kind(path: Path, kind: str) -> list[str]:
    return [said for name, said in instructions(path.read_text()) if name == kind]


def test_each_image_has_a_job():
    assert {path.parent.name for path in IMAGES} == set(JOBS)


@every_image
def test_hadolint_has_nothing_to_say(path):
    ran = subprocess.run([HADOLINT, path], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_hadolint_would_say_it(tmp_path):
    wrong = tmp_path / "Dockerfile"
    wrong.write_text("FROM debian:latest\nRUN pip install requests\n")
    ran = subprocess.run([HADOLINT, wrong], capture_output=True, text=True, check=False)
    assert (ran.returncode, "DL3007" in ran.stdout, "DL3013" in ran.stdout) == (1, True, True)


@every_image
def test_the_base_is_pinned_as_the_job_spec_asks_of_images(path):
    (base,) = of_kind(path, "FROM")
    job = plain_values(load_job(ROOT / "examples" / "jobs" / "ddp-pretrain.yaml")) | {"image": base}
    assert [fault for fault in check_job(job) if fault.path == ("image",)] == []
    assert re.search(r":[\w.-]+-v\d+\.\d+(@sha256:[0-9a-f]{64})?$", base)


@every_image
def test_all_images_have_the_same_base(path):
    assert of_kind(path, "FROM") == of_kind(IMAGES[0], "FROM")


@every_image
def test_training_is_not_root(path):
    user = of_kind(path, "USER")[-1]
    assert user.isdecimal()
    assert int(user) >= 10000


@every_image
def test_the_script_of_the_job_is_in_the_image(path):
    job = load_job(ROOT / "examples" / "jobs" / f"{JOBS[path.parent.name]}.yaml")
    (folder,) = of_kind(path, "WORKDIR")
    copied = {
        f"{folder}/{name}"
        for said in of_kind(path, "COPY")
        for name in said.split()[:-1]
        if not name.startswith("--")
    }
    assert job.script in copied
    for name in copied:
        assert (path.parent / Path(name).name).is_file()
    repository, _, tag = job.image.rpartition(":")
    assert repository.rpartition("/")[2] == job.image.rpartition("/")[2].partition(":")[0]
    assert tag != "latest"


@every_image
def test_requirements_are_exact(path):
    file = path.parent / "requirements.txt"
    lines = file.read_text().splitlines() if file.exists() else []
    wanted = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", line) for line in wanted)
    installs = [said for said in of_kind(path, "RUN") if "pip install" in said]
    # Beside the wheel of this project, which has no version yet that a registry knows.
    others = [said for said in installs if "/wheel/cdk_hyperpod-*.whl" not in said]
    assert len(installs) == len(others) + 1
    assert bool(wanted) == bool(others)
    assert all("--requirement requirements.txt" in said for said in others)


@every_image
def test_a_script_takes_the_arguments_of_its_job(path):
    job = load_job(ROOT / "examples" / "jobs" / f"{JOBS[path.parent.name]}.yaml")
    script = ast.parse((path.parent / "train.py").read_text())
    options = {
        call.args[0].value
        for call in ast.walk(script)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "add_argument"
        and isinstance(call.args[0], ast.Constant)
    }
    given = {argument for argument in job.script_args if argument.startswith("--")}
    assert given <= options
    assert given


@every_image
def test_a_script_reads_the_environment_that_its_job_sets(path):
    job = load_job(ROOT / "examples" / "jobs" / f"{JOBS[path.parent.name]}.yaml")
    read = set(re.findall(r'"((?:CHECKPOINT|TRAINING)_\w+)"', (path.parent / "train.py").read_text()))
    assert read
    assert read <= job.environment_variables().keys()


def test_comments_are_no_instructions():
    assert instructions("FROM a\n# RUN b\nRUN c \\\n    && d\n") == [("FROM", "a"), ("RUN", "c && d")]
