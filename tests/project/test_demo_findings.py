"""The demo says in a line what a synthesis found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hyperpod_demo.findings import findings, warnings

ADVICE = {"severity": "info", "ruleMetadata": {"outcome": "fail"}}
UNDETERMINED = {"severity": "info", "ruleMetadata": {"outcome": "undetermined"}}
OF_ANOTHER_PACK = {"severity": "warning"}
WARNED = {"type": "aws:cdk:warning", "data": "the bucket is not this app's [ack: hyperpod:Scripts.foreign]"}
INFORMED = {"type": "aws:cdk:info", "data": "nothing is saved yet"}


def assembly(folder: Path, *plugins: dict[str, Any], **metadata: list[dict[str, str]]) -> Path:
    (folder / "validation-report.json").write_text(json.dumps({"pluginReports": plugins}))
    (folder / "HyperPodStack.metadata.json").write_text(json.dumps(metadata))
    return folder


@pytest.mark.parametrize(
    ("violations", "acknowledged", "said"),
    [
        ([], 0, "no open finding, 0 acknowledged with a reason"),
        ([], 3, "no open finding, 3 acknowledged with a reason"),
        ([ADVICE], 1, "1 advice, 1 acknowledged with a reason"),
        ([UNDETERMINED, ADVICE, ADVICE], 0, "2 advice, 1 undetermined, 0 acknowledged with a reason"),
        ([ADVICE, OF_ANOTHER_PACK, {}], 0, "1 error, 1 warning, 1 advice, 0 acknowledged with a reason"),
        ([OF_ANOTHER_PACK, OF_ANOTHER_PACK], 0, "2 warnings, 0 acknowledged with a reason"),
    ],
)
def test_findings_are_counted_by_label(
    tmp_path: Path, violations: list[dict[str, Any]], acknowledged: int, said: str
) -> None:
    plugins = ({"violations": violations}, {"suppressedViolations": [{}] * acknowledged})
    assert findings(assembly(tmp_path, *plugins)) == said


def test_warnings_of_constructs_count_and_are_told_without_the_id_that_silences_them(tmp_path: Path) -> None:
    made = assembly(tmp_path, {"violations": [ADVICE]}, a=[WARNED, INFORMED], b=[INFORMED])
    assert findings(made) == "1 warning, 1 advice, 0 acknowledged with a reason"
    assert list(warnings(made)) == ["the bucket is not this app's"]


def test_a_stack_without_metadata_warns_of_nothing(tmp_path: Path) -> None:
    assert list(warnings(tmp_path)) == []
