"""A report with a finding of every kind, one of them hostile."""

from __future__ import annotations

from datetime import date

import pytest

from hyperpod_policy import Finding, Report
from hyperpod_policy.report import Acknowledged
from hyperpod_policy.reports.subject import Subject


def make(**more) -> Finding:
    fields = {
        "rule_id": "BucketVersioning",
        "title": "buckets keep old versions",
        "severity": "error",
        "outcome": "fail",
        "logical_id": "Bucket",
        "resource_type": "AWS::S3::Bucket",
        "path": ("VersioningConfiguration", "Status"),
        "found": "is Suspended",
        "allowed": "Enabled",
        "fix": "set it to Enabled",
        "why": "Versions are lost.",
        "source": "S3 user guide",
        "file": "a/t.yaml",
        "line": 12,
    }
    return Finding(**(fields | more))


@pytest.fixture
def finding():
    return make


@pytest.fixture
def subject():
    return Subject(templates=2, manifests=1, rules=45)


@pytest.fixture
def report():
    return Report(
        (
            make(outcome="pass", line=None),
            make(rule_id="NodeRecovery", severity="warning", path=("Groups", 0, "Type"), line=3),
            make(logical_id="Other", line=40),
            make(),
            make(rule_id="Alarms", severity="advice", file=None, line=None, path=()),
            make(rule_id="NodeSubnets", outcome="undetermined", line=None),
            make(
                rule_id="BucketAccessLogs",
                acknowledged=Acknowledged("CloudTrail does", "acks.yaml:3", expires=date(2030, 1, 31)),
            ),
        ),
        ("nested stack N: its template is not at hand",),
    )


HOSTILE = "\x1b[31mx\x07\r\n| `a` **b** <img src=x> [l](http://x) @team #1 \u202e\u200b"


@pytest.fixture
def hostile():
    return Report((make(logical_id=HOSTILE, found=HOSTILE, file=HOSTILE, path=(HOSTILE,), fix=HOSTILE),))
