"""What this project renders keeps the promises that it asks of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_charts.rendering import render
from hyperpod_model.job_spec import load_job
from hyperpod_policy.review_sources import review_sources
from hyperpod_policy.sources import load

JOBS = sorted((Path(__file__).parents[3] / "examples" / "jobs").glob("*.yaml"))
LEFT_TO_THE_CLUSTER = {"DeepHealthSelector", "TieredNetworkPolicy"}


def test_there_are_examples():
    assert JOBS


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)
def test_an_example_raises_nothing(path, tmp_path):
    file = tmp_path / "job.yaml"
    file.write_text(render(load_job(path)), encoding="utf-8")
    report = review_sources(load([file]))
    assert [finding.text() for finding in report.failures] == []
    assert {finding.rule_id for finding in report.findings} <= LEFT_TO_THE_CLUSTER
    assert report.outcome("ImagePins") == "pass"
