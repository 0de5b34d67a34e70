"""The snippets of docs/catalog.md run, and the page names every table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hyperpod_model.catalog

PAGE = (Path(__file__).parents[3] / "docs" / "catalog.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_snippet_prints_what_its_comments_say(capsys: pytest.CaptureFixture[str]):
    exec(compile(SNIPPETS[0], "docs/catalog.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "8 32 32"
    assert lines[1].startswith("addresses a node with Slurm of ml.p4d.24xlarge is uncertain: derived as ")
    assert lines[2:4] == ["4", "32"]


def test_the_snippet_on_claims_prints_each_with_its_date(capsys: pytest.CaptureFixture[str]):
    exec(compile(SNIPPETS[1], "docs/catalog.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[:2] for line in lines] == [["1.28-1.33", "2026-09-01"], ["1.30-1.35", "2026-11"]]


def test_every_module_with_a_table_is_named():
    folder = Path(hyperpod_model.catalog.__file__).parent
    modules = {path.stem for path in folder.glob("[a-z]*.py")} - {"fact"}
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)) == modules
