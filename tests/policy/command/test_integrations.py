"""The GitHub Action and the pre-commit hook call the command as it is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
INSTALL, REVIEW = ACTION["runs"]["steps"]
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())


@pytest.fixture
def act(folder, tmp_path_factory):
    """Run the action's review step as a runner does: inputs in the environment, files for its answers."""
    runner = tmp_path_factory.mktemp("runner")
    (runner / "hyperpod-review").symlink_to(sys.prefix)

    def step(**inputs):
        given = {name: str(entry["default"]) for name, entry in ACTION["inputs"].items()} | inputs
        environment = {
            name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: given[found[1]], value)
            for name, value in REVIEW["env"].items()
        }
        answers = {name: runner / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in answers.values():
            file.write_text("")
        ran = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", REVIEW["run"]],
            cwd=folder,
            env={
                **os.environ,
                **environment,
                **{name: str(file) for name, file in answers.items()},
                "RUNNER_TEMP": str(runner),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return ran, {name: file.read_text() for name, file in answers.items()}

    return step


def test_the_action_fails_on_findings_and_writes_its_reports(act, save, folder, unversioned):
    save("cdk.out/S.template.json", unversioned)
    ran, answers = act(sarif="report.sarif")
    assert ran.returncode == 1
    assert ran.stdout.startswith("error: BucketVersioning: ")
    assert answers["GITHUB_OUTPUT"] == "exit-code=1\n"
    assert answers["GITHUB_STEP_SUMMARY"].startswith("### hyperpod-review\n")
    results = json.loads((folder / "report.sarif").read_text())["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["BucketVersioning"]


def test_the_action_passes_its_inputs_on(act, save, folder, unversioned):
    save("a b/S.template.json", unversioned)
    save("c.template.json", {"Resources": {}})
    save("acks.yaml", "acknowledgements: [{id: BucketVersioning, resource: Checkpoints, reason: a vault}]")
    paths = "a b/S.template.json\nc.template.json"
    assert act(paths=paths, **{"fail-on": "never"})[0].returncode == 0
    ran, answers = act(paths=paths, acknowledgements="acks.yaml", arguments="--region=us-west-2\n--verbose")
    assert (ran.returncode, answers["GITHUB_OUTPUT"]) == (0, "exit-code=0\n")
    assert "pass: " in ran.stdout
    assert "(2 templates by " in ran.stdout
    assert not (folder / "report.sarif").exists()


def test_the_action_tells_unusable_input(act):
    ran, answers = act(paths="missing.json", sarif="report.sarif")
    assert (ran.returncode, answers["GITHUB_OUTPUT"]) == (2, "exit-code=2\n")
    assert ran.stderr.startswith("hyperpod-review: missing.json: is not there")
    assert ran.stderr.count("\n") == 1


def test_an_input_cannot_run_commands(act, save, folder):
    save("cdk.out/S.template.json", {"Resources": {}})
    act(paths="$(touch broken)\n`touch broken`\n; touch broken", arguments="--region=$(touch broken)")
    assert not (folder / "broken").exists()
    assert not any("${{" in step["run"] for step in (INSTALL, REVIEW))


def test_the_scripts_of_the_action_are_sound(folder):
    for number, step in enumerate((INSTALL, REVIEW)):
        file = folder / f"{number}.sh"
        file.write_text(f"#!/usr/bin/env bash\n{step['run']}")
        subprocess.run([Path(sys.prefix, "bin", "shellcheck"), file], check=True)


def test_every_input_of_the_action_is_used():
    used = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(ACTION["runs"])))
    assert used == set(ACTION["inputs"])


@pytest.mark.parametrize(
    ("name", "reviewed"),
    [
        ("cdk.out/S.template.json", True),
        ("stacks/cluster.template.yaml", True),
        ("stacks/cluster.template.yml", True),
        ("package.json", False),
        ("mkdocs.yml", False),
    ],
)
def test_the_hook_takes_templates_only(name, reviewed):
    assert bool(re.search(HOOK["files"], name)) == reviewed


def test_the_hook_runs_an_installed_command(save, folder, unversioned):
    save("S.template.json", unversioned)
    command = Path(sys.prefix, "bin", HOOK["entry"])
    assert HOOK["language"] == "python"
    ran = subprocess.run([command, "S.template.json"], cwd=folder, capture_output=True, check=False)
    assert ran.returncode == 1
