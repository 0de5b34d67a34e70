"""The command in a folder of its own, run in this process."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hyperpod_charts.command import main

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "jobs"


class Ran(NamedTuple):
    """What the command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def rule_ids(self) -> list[str]:
        return [finding["rule_id"] for finding in self.json["findings"]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, without what would change colours."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def save(folder: Path) -> Callable[[str, Any], str]:
    """Write text, or anything else as JSON, to a file in the working directory."""

    def write(name: str, content: Any) -> str:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        return name

    return write


@pytest.fixture
def run(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    """Run the command."""
    del folder

    def invoke(*arguments: str, standard_input: str | bytes | None = None) -> Ran:
        if standard_input is not None:
            content = standard_input.encode() if isinstance(standard_input, str) else standard_input
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        code = main(arguments)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return invoke


@pytest.fixture
def job() -> dict[str, Any]:
    """A job that nothing is to be said about."""
    return {
        "name": "vision",
        "image": "444455556666.dkr.ecr.us-east-2.amazonaws.com/vision:2.3.1",
        "instance_type": "ml.p5.48xlarge",
        "nodes": 3,
        "service_account": "trainer",
        "script": "/app/train.py",
        "persistent_volume_claims": [{"claim_name": "lustre", "mount_path": "/lustre"}],
        "checkpoint": {"path": "/lustre/vision"},
        "topology": {"layer": 3},
    }


@pytest.fixture
def cluster() -> dict[str, Any]:
    """A cluster with room for it."""
    return {
        "name": "small",
        "region": "us-east-2",
        "orchestrator": "eks",
        "network": {"availability_zone_id": "use2-az1"},
        "eks": {
            "control_plane_availability_zone_ids": ["use2-az1", "use2-az2"],
            "dependency_chart": {
                "oci_uri": "oci://444455556666.dkr.ecr.us-east-2.amazonaws.com/chart",
                "version": "0.1.0",
            },
        },
        "instance_groups": [
            {
                "name": "gpus",
                "instance_type": "ml.p5.48xlarge",
                "instance_count": 5,
                "threads_per_core": 1,
            },
            {
                "name": "system",
                "instance_type": "ml.m5.2xlarge",
                "instance_count": 2,
                "min_instance_count": 2,
                "secondary_volume_size_gib": 100,
            },
        ],
        "training_pods": {"namespace": "kubeflow", "service_account": "trainer"},
    }
