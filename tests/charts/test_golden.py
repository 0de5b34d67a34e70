"""Manifests of the example jobs, as they were agreed.

Nothing writes the files below ``golden``. When a change of them is meant, see it first,

    hyperpod-jobs render examples/jobs/ddp-pretrain.yaml | diff tests/charts/golden/ddp-pretrain.yaml -

then make it there by hand, line by line: each line that moves is one that users' jobs will move by.
"""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
import yaml
from kubernetes_schemas import needs_crds, refusals
from rendered_jobs import example, examples

from hyperpod_charts import render

GOLDEN = Path(__file__).parent / "golden"


def test_each_example_has_a_golden_manifest_and_no_other_has():
    assert sorted(path.stem for path in GOLDEN.iterdir()) == examples()


@pytest.mark.parametrize("name", examples())
def test_an_example_is_rendered_as_it_was_agreed(name: str):
    agreed = (GOLDEN / f"{name}.yaml").read_text(encoding="utf-8")
    rendered = render(example(name))
    changes = difflib.unified_diff(
        agreed.splitlines(), rendered.splitlines(), "golden", "rendered", lineterm=""
    )
    assert rendered == agreed, "\n".join(changes)


@needs_crds
@pytest.mark.parametrize("name", examples())
def test_a_server_takes_each_golden_manifest(name: str):
    for body in yaml.safe_load_all((GOLDEN / f"{name}.yaml").read_text(encoding="utf-8")):
        assert refusals(body) == [], body["kind"]
