"""docs/trust-map.md says what the JSON holds, and its snippet runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from hyperpod_policy.trust_map.model import Ability, Certainty, Kind

PAGE = (Path(__file__).parents[3] / "docs" / "trust-map.md").read_text(encoding="utf-8")
(SNIPPET,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def test_every_ability_is_described_once():
    assert re.findall(r"^\| `([a-z-]+)` \|", PAGE.split("| ability |")[1], flags=re.MULTILINE) == [
        *get_args(Ability)
    ]


def test_every_kind_is_named():
    kinds = PAGE.split("Kinds of nodes:")[1].split("\n\n")[0]
    assert re.findall(r"`([a-z ]+)`", kinds) == [*get_args(Kind)]


@pytest.mark.parametrize("certainty", get_args(Certainty))
def test_every_certainty_is_explained(certainty):
    assert f"- **{certainty}**: " in PAGE


def test_the_snippet_runs(template, tmp_path, monkeypatch, capsys):
    (tmp_path / "HyperPodStack.template.json").write_text(json.dumps(template), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(SNIPPET, "docs/trust-map.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "role NodeRole ['write-objects']" in printed
    assert (tmp_path / "trust-map.svg").read_text(encoding="utf-8").startswith("<svg ")
