"""Figures of recoveries, from what the resume library prints or writes until CloudWatch has the value."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack, assertions
from aws_cdk import aws_logs as logs
from container_insights import events_of
from local_resources import create, delete

from aws_double.services.logs import matches
from aws_double.session import Session
from hyperpod_constructs import RecoveryFigures
from hyperpod_lifecycle.training import container_output
from hyperpod_model.catalog.logs import PARSED_LINE_KEY
from hyperpod_model.catalog.recovery import RECOVERY_STAGES

PLUGINS = Path(__file__).parents[1] / "plugins"
LIBRARY = os.pathsep.join(str(Path(__file__).parents[2] / name) for name in ("lifecycle", "model"))
RECORD: dict[str, Any] = {
    "version": 1,
    "kind": "recovery",
    "complete": True,
    "seconds": {stage.name: number + 0.25 for number, stage in enumerate(RECOVERY_STAGES)},
    "steps_lost": 3,
}


class Figures:
    """The metric filters of ``RecoveryFigures`` on a log group of the double, and what they have counted."""

    def __init__(self, root: Session, record_field: str | None) -> None:
        self._root = root
        self.cluster = f"c-{uuid.uuid4().hex[:8]}"
        self._group = create(root, "AWS::Logs::LogGroup", LogGroupName=f"/containers/{self.cluster}")
        where = Stack(App(), "Stack")
        group = logs.LogGroup.from_log_group_name(where, "Group", self._group.physical_id)
        RecoveryFigures(
            where, "Figures", log_group=group, cluster_name=self.cluster, record_field=record_field
        )
        for name, made in assertions.Template.from_stack(where).to_json()["Resources"].items():
            create(root, made["Type"], name, **made["Properties"])
        root.client("logs").create_log_stream(logGroupName=self._group.physical_id, logStreamName="one")

    def put(self, messages: Sequence[str]) -> None:
        now = int(time.time() * 1000)
        self._root.client("logs").put_log_events(
            logGroupName=self._group.physical_id,
            logStreamName="one",
            logEvents=[{"timestamp": now, "message": message} for message in messages],
        )

    def values(self) -> dict[str, list[float]]:
        """Sum and number of values by figure."""
        client = self._root.client("cloudwatch")
        now = datetime.now(UTC)
        told = {}
        for metric in client.list_metrics(Namespace=f"HyperPod/{self.cluster}")["Metrics"]:
            name = metric["MetricName"]
            (point,) = client.get_metric_statistics(
                Namespace=metric["Namespace"],
                MetricName=name,
                StartTime=now - timedelta(hours=1),
                EndTime=now + timedelta(minutes=1),
                Period=7200,
                Statistics=["Sum", "SampleCount"],
            )["Datapoints"]
            told[name] = [point["Sum"], point["SampleCount"]]
        return told

    def remove(self) -> None:
        delete(self._root, self._group)


def figure_of(stage: str) -> str:
    return f"Recovery{stage.title().replace('_', '')}Seconds"


def expected(record: dict[str, Any]) -> dict[str, list[float]]:
    seconds = {figure_of(name): [value, 1.0] for name, value in record["seconds"].items()}
    return {"StepsLost": [record["steps_lost"], 1.0], **seconds}


@pytest.fixture
def of_containers(root: Session) -> Iterator[Figures]:
    figures = Figures(root, PARSED_LINE_KEY.value)
    yield figures
    figures.remove()


@pytest.fixture
def of_a_folder(root: Session) -> Iterator[Figures]:
    figures = Figures(root, None)
    yield figures
    figures.remove()


def test_an_event_of_container_insights_counts(of_containers: Figures) -> None:
    of_containers.put(list(events_of(f"epoch 1\n{json.dumps(RECORD)}\n\nepoch 2\n")))
    assert of_containers.values() == expected(RECORD)


@pytest.mark.parametrize(
    "line",
    [
        "StepsLost 3, a plain line",
        f"[default0]:{json.dumps(RECORD)}",
        json.dumps(RECORD | {"complete": False}),
        json.dumps(RECORD | {"version": 2}),
        json.dumps(RECORD | {"kind": "save"}),
        json.dumps([RECORD]),
        json.dumps({"log_processed": RECORD}),
    ],
)
def test_other_lines_do_not(of_containers: Figures, line: str) -> None:
    of_containers.put(list(events_of(line)))
    assert of_containers.values() == {}


def test_a_record_as_it_is_does_not_count_for_containers(of_containers: Figures) -> None:
    of_containers.put([json.dumps(RECORD)])
    assert of_containers.values() == {}


def test_a_record_that_a_controller_ships_counts(of_a_folder: Figures) -> None:
    of_a_folder.put([json.dumps(RECORD), *events_of(json.dumps(RECORD))])
    assert of_a_folder.values() == expected(RECORD)


def test_numbers_with_an_exponent_and_null_are_none(of_a_folder: Figures) -> None:
    seconds = RECORD["seconds"] | {"first_step": 0.00001, "lost_steps": None}
    of_a_folder.put([json.dumps(RECORD | {"seconds": seconds})])
    missing = {figure_of("first_step"), figure_of("lost_steps")}
    assert set(of_a_folder.values()) == set(expected(RECORD)) - missing


def test_what_the_resume_library_prints_in_a_pod_becomes_the_figures(
    of_containers: Figures, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": LIBRARY,
        container_output.IN_PODS: "10.100.0.1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment.pop(container_output.PRINT_VARIABLE, None)
    command = [sys.executable, PLUGINS / "recovered_worker.py", tmp_path]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    of_containers.put(list(events_of(run.stdout)))
    told = of_containers.values()
    assert told["StepsLost"] == [3.0, 1.0]
    (written,) = (
        record
        for path in tmp_path.glob("*.jsonl")
        for record in map(json.loads, path.read_text().splitlines())
        if record["kind"] == "recovery" and record["complete"]
    )
    assert told == expected(written)


@pytest.mark.parametrize(
    "pattern",
    [
        '{ $.a = "b" && $.c = 1 }',
        '{ ($.a = "b") || ($.c = 1) }',
        "{ $.a = * }",
        "{ $.a > 1 }",
        '{ ($.a = "b") && $.c IS NULL }',
        "a b",
    ],
)
def test_other_patterns_are_not_in_this_double(pattern: str) -> None:
    with pytest.raises(ValueError, match="is not in this double"):
        matches(pattern, "{}")


@pytest.mark.parametrize(
    ("pattern", "line", "found"),
    [
        ('{ $.a.b = "c" }', '{"a": {"b": "c"}}', True),
        ('{ $.a.b = "c" }', '{"a": "b"}', False),
        ('{ $.a = "1" }', '{"a": 1}', False),
        ("{ $.a = 1 }", '{"a": 1}', True),
        ("{ $.a = 1 }", '{"a": true}', False),
        ("{ $.a = 1 }", '{"a": "1"}', False),
        ("{ $.a IS TRUE }", '{"a": true}', True),
        ("{ $.a IS TRUE }", '{"a": 1}', False),
        ("{ $.a IS FALSE }", "{}", False),
        ('{ ($.a = "b") && ($.c IS FALSE) }', '{"a": "b", "c": false}', True),
        ('{ ($.a = "b") && ($.c IS FALSE) }', '{"a": "b"}', False),
    ],
)
def test_conditions_on_members(pattern: str, line: str, found: bool) -> None:
    assert matches(pattern, line) is found
