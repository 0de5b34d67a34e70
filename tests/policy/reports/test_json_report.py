from __future__ import annotations

import json

from hyperpod_policy.reports.json_report import fields, render


def test_findings_are_a_list_of_objects_and_counted(report, subject):
    said = json.loads(render(report, subject))
    assert [finding["rule_id"] for finding in said["findings"]] == [
        "NodeRecovery",
        "BucketVersioning",
        "BucketVersioning",
        "Alarms",
        "NodeSubnets",
        "BucketAccessLogs",
    ]
    assert said["summary"] == {
        "error": 2,
        "warning": 1,
        "advice": 1,
        "undetermined": 1,
        "acknowledged": 1,
        "pass": 1,
        "templates": 2,
        "manifests": 1,
        "rules": 45,
    }
    assert said["limits"] == ["nested stack N: its template is not at hand"]
    assert "passes" not in said


def test_kept_promises_are_for_verbose(report, subject):
    said = json.loads(render(report, subject, verbose=True))
    assert [entry["outcome"] for entry in said["passes"]] == ["pass"]


def test_a_finding_is_complete(finding):
    assert fields(finding(path=("Groups", 2, "Type"), when="parameter A is b")) == {
        "rule_id": "BucketVersioning",
        "title": "buckets keep old versions",
        "severity": "error",
        "outcome": "fail",
        "resource": "Bucket",
        "resource_type": "AWS::S3::Bucket",
        "path": "Groups[2].Type",
        "file": "a/t.yaml",
        "line": 12,
        "message": "is Suspended; expected: Enabled (when parameter A is b)",
        "found": "is Suspended",
        "allowed": "Enabled",
        "when": "parameter A is b",
        "fix": "set it to Enabled",
        "why": "Versions are lost.",
        "source": "S3 user guide",
        "acknowledged": None,
    }


def test_an_acknowledgement_is_told_with_its_end(report):
    assert fields(report.findings[-1])["acknowledged"] == {
        "reason": "CloudTrail does",
        "by": "acks.yaml:3",
        "expires": "2030-01-31",
    }


def test_hostile_text_is_kept_as_it_is(hostile, subject):
    (entry,) = json.loads(render(hostile, subject))["findings"]
    assert entry["resource"] == hostile.findings[0].logical_id
