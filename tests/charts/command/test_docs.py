"""The page on jobs shows commands that exist, a job that is sound, and answers that are given."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from collective_logs import JobLog

from hyperpod_charts.command.arguments import parsed
from hyperpod_model.catalog.collective_logs import ERRORS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "jobs.md").read_text()
README = (ROOT / "README.md").read_text()
COMMANDS = [
    command
    for text in (PAGE, README, *(path.read_text() for path in (ROOT / "examples").rglob("*.sh")))
    for command in re.findall(r"(?:^|\| |\|\n  )(hyperpod-jobs [^|\n]+)", text, re.MULTILINE)
]


def _block(language: str, number: int = 0) -> str:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[number]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one_that_can_be_given(command):
    program, *arguments = shlex.split(command)
    assert program == "hyperpod-jobs"
    assert parsed(arguments).module


def test_each_command_is_shown():
    assert {parsed(shlex.split(command)[1:]).module for command in COMMANDS} >= {
        "render",
        "validate",
        "check_logs",
    }


def test_the_job_on_the_page_is_sound(save, run):
    job = _block("yaml")
    assert len(job.splitlines()) <= 15
    assert run("validate", save("job.yaml", job)).code == 0


def test_the_refusal_on_the_page_is_given(save, run):
    wrong = _block("yaml").replace(":1.0.0", ":latest").replace("nodes: 2", "nodes: 0")
    assert run("render", save("job.yaml", wrong)).err == _block("text")


def test_the_answer_on_the_page_is_given(save, run):
    log = replace(JobLog(), devices=8, nics=8)
    assert run("check-logs", save("a.log", log.text())).out == _block("text", 1)


def test_every_example_is_listed():
    listed = set(re.findall(r"\(\.\./examples/jobs/([\w-]+)\.yaml\)", PAGE))
    assert listed == {path.stem for path in (ROOT / "examples" / "jobs").glob("*.yaml")}


def test_the_readme_names_files_that_exist():
    named = re.findall(r"examples/jobs/[\w/.-]+\.yaml", README)
    assert named
    assert all((ROOT / name).is_file() for name in named)


def test_errors_say_a_way_out():
    assert len({error.id for error in ERRORS}) == len(ERRORS)
    words = [word for error in ERRORS for word in error.says]
    assert len(set(words)) == len(words)
    assert not [(a, b) for a in words for b in words if a != b and a in b]
    for error in ERRORS:
        assert error.source
        assert not error.means.endswith(".")
        assert not error.fix.endswith(".")
