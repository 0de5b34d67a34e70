"""Context of the app: misspelt keys of its own are refused, those of others left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.app_context import CONTEXT_KEYS, app_context, context_of_all_apps
from hyperpod_model.faults import InvalidInputError

ROOT = Path(__file__).parents[2]


def faults_of(given: dict[str, Any], **more: Any) -> list[str]:
    with pytest.raises(InvalidInputError) as refused:
        app_context(given, **more)
    return [str(fault) for fault in refused.value.faults]


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("clustr", "my.yaml", "cluster"),
        ("Cluster", "my.yaml", "cluster"),
        ("clusters", "my", "cluster"),
        ("spec", "my.yaml", "cluster"),
        ("config", "clusters/my.yml", "cluster"),
        ("request", "my.json", "cluster"),
        ("availability-zone-id", "usw2-az2", "availability_zone_id"),
        ("availabilityZoneId", "usw2-az2", "availability_zone_id"),
        ("zone", "usw2-az2", "availability_zone_id"),
        ("base-line", "deployed", "baseline"),
        ("stric", "true", "strict"),
        ("regoin", "us-west-2", "region"),
        ("aws_region", "us-west-2", "region"),
        ("account_id", "111122223333", "account"),
    ],
)
def test_a_misspelt_key_is_refused(name: str, value: str, meant: str) -> None:
    (fault,) = faults_of({name: value})
    assert fault.startswith(
        f"-c {name}: is no context of this app; did you mean -c {meant}={value}? It takes "
    )


@pytest.mark.parametrize(
    "name",
    [
        "@aws-cdk/core:newStyleStackSynthesis",
        "aws:cdk:enable-path-metadata",
        "aws:cdk:bundling-stacks",
        "availability-zones:account=111122223333:region=us-west-2",
        "vpc-provider:account=111122223333",
        "cli-telemetry",
        "acknowledged-issue-numbers",
        "stage",
        "team",
        "reason",
        "count",
        "owner",
        "environment",
    ],
)
def test_keys_of_others_are_left_alone(name: str) -> None:
    for value in ("prod", True, 3, ["a.yaml"], {"b": "c.yaml"}):
        assert app_context({name: value}).cluster is None


def test_keys_for_all_apps_are_not_judged() -> None:
    assert app_context({"clusters": "my.yaml"}, of_all_apps={"clusters"}).cluster is None


def test_keys_for_all_apps_are_those_of_the_file_of_the_home(tmp_path: Path) -> None:
    assert context_of_all_apps(tmp_path) == frozenset()
    file = tmp_path / ".cdk.json"
    for content, keys in (
        ({"context": {"clusters": 1}}, {"clusters"}),
        ({"profile": "x"}, set()),
        ({"context": None}, set()),
        ([], set()),
    ):
        file.write_text(json.dumps(content))
        assert context_of_all_apps(tmp_path) == keys


def test_values_that_cannot_be_are_refused_together() -> None:
    assert faults_of({"strict": "yes", "account": "1234"}) == [
        "-c strict: must be true or false, got 'yes'",
        "-c account: must be the 12 digits of an AWS account, got '1234'",
    ]


@pytest.mark.parametrize(
    ("value", "strict"), [("true", True), (True, True), ("True", True), ("false", False), (False, False)]
)
def test_strict_is_true_or_false(value: Any, strict: bool) -> None:
    assert app_context({"strict": value}).strict is strict


def test_what_is_said_is_read_as_text() -> None:
    given = {"cluster": "a.yaml", "region": "us-west-2", "account": 111122223333, "baseline": "t.json"}
    read = app_context(given)
    assert read == ("a.yaml", False, "us-west-2", None, "t.json", "111122223333")
    assert read._fields == CONTEXT_KEYS


def test_the_app_explains_every_key() -> None:
    explained = (ROOT / "app.py").read_text()
    assert [name for name in CONTEXT_KEYS if f"``{name}" not in explained] == []
