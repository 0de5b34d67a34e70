"""The pages on clusters show code that runs, and say what the code says."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import assertions
from create_cluster_model import assert_clusters_are_legal

from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.resilience_policy import ResiliencePolicy
from hyperpod_model.secondary_volume import DEFAULT_ACCELERATED_SECONDARY_VOLUME_GIB

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "hyperpod_cluster": "hyperpod-cluster.md",
    "instance_group": "instance-group.md",
    "resilience_policy": "resilience-policy.md",
}


def run(name: str) -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "snippets" / f"{name}.py"))


@pytest.mark.parametrize("name", PAGES)
def test_the_page_shows_the_snippet(name: str) -> None:
    code = (DOCS / "snippets" / f"{name}.py").read_text(encoding="utf-8")
    assert f"```python\n{code}```\n" in (DOCS / PAGES[name]).read_text(encoding="utf-8")


def test_the_cluster() -> None:
    made = run("hyperpod_cluster")
    assert_clusters_are_legal(assertions.Template.from_stack(made["stack"]).to_json())


def test_the_group() -> None:
    assert isinstance(run("instance_group")["workers"], InstanceGroup)
    page = (DOCS / PAGES["instance_group"]).read_text(encoding="utf-8")
    assert f"| {DEFAULT_ACCELERATED_SECONDARY_VOLUME_GIB} for accelerated types" in page


def test_the_policies(capsys: pytest.CaptureFixture[str]) -> None:
    made = run("resilience_policy")
    assert [bool(one.deep_health_checks) for one in made.values() if isinstance(one, ResiliencePolicy)][
        :4
    ] == [
        True,
        True,
        False,
        False,
    ]
    assert "the spare node" in capsys.readouterr().out
