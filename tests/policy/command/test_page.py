"""What docs/review.md shows is so."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from hyperpod_policy.acknowledgement_file import read_acknowledgements
from hyperpod_policy.command import main
from hyperpod_policy.command.arguments import _parser, parsed

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "review.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "review"


def _blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


COMMANDS = [
    shlex.split(line.partition("hyperpod-review")[2])
    for block in _blocks("sh")
    for line in block.splitlines()
    if "hyperpod-review" in line
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_command_is_understood(arguments):
    assert parsed(arguments).paths


def test_every_option_is_explained_and_no_other():
    said = set(re.findall(r"--[a-z][a-z-]+", PAGE))
    known = {option for action in _parser()._actions for option in action.option_strings}
    assert said - {"--stack-name"} <= known
    explained_by_help = {"--help", "--version"}
    assert {option for option in known if option.startswith("--")} - said == explained_by_help


def test_the_finding_is_what_the_example_gives(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    code = main(
        ["examples/review/cluster.yaml", "--acknowledgements", "examples/review/.hyperpod-review.yaml"]
    )
    (shown,) = _blocks("text")
    out = capsys.readouterr().out
    assert code == 1
    assert " ".join(shown.split()) in " ".join(out.split())


def test_the_acknowledgements_are_those_of_the_example():
    file = EXAMPLE / ".hyperpod-review.yaml"
    (shown,) = (block for block in _blocks("yaml") if block.startswith("acknowledgements"))
    assert shown == file.read_text()
    assert read_acknowledgements(file)[0].rule_id == "BucketVersioning"


def test_the_fields_of_a_finding_are_named(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    main(["examples/review/cluster.yaml", "--format", "json"])
    said = json.loads(capsys.readouterr().out)
    part = PAGE.partition("The JSON object has")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z_]+)`", part))
    assert {*said, *said["findings"][0]} <= named


def test_the_action_and_the_hook_are_used_as_they_are():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    workflow, configuration = (yaml.safe_load(block) for block in _blocks("yaml")[1:])
    (step,) = (step for step in workflow["steps"] if "cdk-hyperpod" in step.get("uses", ""))
    assert set(step["with"]) <= set(action["inputs"])
    assert configuration["repos"][0]["hooks"][0]["id"] == hook["id"]
    assert set(configuration["repos"][0]["hooks"][0]) <= set(hook)
