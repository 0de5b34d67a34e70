"""Clusters of the demo are read as the app reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hyperpod_demo.clusters import EXAMPLES, DemoCluster

from hyperpod_model.faults import InvalidInputError

ROOT = Path(__file__).parents[2]


def test_a_mistyped_context_is_refused_before_anything_starts() -> None:
    with pytest.raises(InvalidInputError, match="did you mean -c availability_zone_id=usw2-az2"):
        DemoCluster.load("slurm", ROOT / EXAMPLES["slurm"], {"zone": "usw2-az2"})


def test_context_of_the_app_is_handed_on() -> None:
    loaded = DemoCluster.load("slurm", ROOT / EXAMPLES["slurm"], {"strict": "false", "stage": "dev"})
    assert loaded.said()["stage"] == "dev"
    assert loaded.spec.name == "llm-train"
