"""The page on goodput shows commands that exist and Python that runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from hyperpod_lifecycle.goodput.command import main
from hyperpod_lifecycle.goodput.command.arguments import parsed

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "goodput.md").read_text()
COMMANDS = re.findall(r"^hyperpod-goodput .+$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one_that_can_be_given(command, monkeypatch, capsys):
    _, *arguments = shlex.split(command)
    options = parsed(arguments)
    if options.module != "measure":
        monkeypatch.chdir(ROOT)
        runs = [] if options.module == "spares" else ["--runs", "10"]
        assert main([*arguments, *runs]) == 0
        assert capsys.readouterr().out


def test_each_command_is_shown():
    assert {parsed(shlex.split(command)[1:]).module for command in COMMANDS} == {
        "estimate",
        "interval",
        "measure",
        "spares",
    }


def test_python_on_the_page_runs(capsys):
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(code, {})
    goodput, minutes = map(float, capsys.readouterr().out.split())
    assert 0.9 < goodput < 1
    assert 60 < minutes < 90
