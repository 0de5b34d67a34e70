"""Every snippet of the documentation runs, and its page shows it as it is."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from aws_cdk import App
from cdk8s import App as ChartsApp

DOCS = Path(__file__).parents[2] / "docs"
SNIPPETS = sorted((DOCS / "snippets").glob("*.py"))


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda path: path.stem)
def test_a_snippet_runs(snippet: Path) -> None:
    made = runpy.run_path(str(snippet), run_name="__main__")
    for app in (value for value in made.values() if isinstance(value, App)):
        assert app.synth().stacks
    for charts in (value for value in made.values() if isinstance(value, ChartsApp)):
        assert charts.synth_yaml()


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda path: path.stem)
def test_a_snippet_is_shown_on_its_page(snippet: Path) -> None:
    page = DOCS / f"{snippet.stem.replace('_', '-')}.md"
    assert snippet.read_text(encoding="utf-8").strip() in page.read_text(encoding="utf-8")


def test_there_are_snippets() -> None:
    assert SNIPPETS
