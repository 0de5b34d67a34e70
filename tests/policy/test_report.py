from __future__ import annotations

import dataclasses

import pytest

from hyperpod_policy import Finding, Report
from hyperpod_policy.report import Acknowledged, count, merged, tally

FINDING = Finding(
    rule_id="R",
    title="t",
    severity="error",
    outcome="fail",
    logical_id="A",
    resource_type="T",
    path=("List", 2, "Item"),
    found="is x",
    allowed="y",
    fix="f",
    why="w.",
    source="s",
)
ACCEPTED = dataclasses.replace(FINDING, acknowledged=Acknowledged("because", "acks.yaml:3"))
ADVICE = dataclasses.replace(FINDING, severity="advice")
WARNING = dataclasses.replace(FINDING, severity="warning")
UNKNOWN = dataclasses.replace(FINDING, outcome="undetermined")
PASS = dataclasses.replace(FINDING, outcome="pass")


def test_a_path_reads_as_in_a_template():
    assert "  where: A (T) List[2].Item\n" in FINDING.text()
    assert "  where: A (T)\n" in dataclasses.replace(FINDING, path=()).text()


def test_a_message_says_when_and_whether_it_is_certain():
    assert FINDING.message == "is x; expected: y"
    assert dataclasses.replace(FINDING, allowed="").message == "is x"
    assert (
        dataclasses.replace(FINDING, when="parameter P is q").message
        == "is x; expected: y (when parameter P is q)"
    )
    assert UNKNOWN.message == "cannot be told before deployment: is x; expected: y"


def test_a_warning_is_labelled():
    assert WARNING.text().startswith("warning: R: t")


def test_a_report_tells_failures_from_the_rest():
    report = Report((PASS, UNKNOWN, FINDING))
    assert report.findings == (UNKNOWN, FINDING)
    assert report.failures == (FINDING,)
    assert report.outcome("R") == "fail"
    assert Report((PASS, UNKNOWN)).outcome("R") == "undetermined"
    assert Report((PASS,)).outcome("R") == "pass"
    assert Report(()).outcome("R") is None


def test_a_report_ends_with_the_number_of_findings():
    assert Report((PASS,), limits=("this",)).text() == "not reviewed: this\n\nno findings"
    assert Report((FINDING, WARNING)).text().endswith("\n\n1 error, 1 warning")


def test_a_report_without_answers_does_not_look_like_a_pass():
    """Such as one on a parent template whose cluster is in a nested stack that is not at hand."""
    assert Report((), limits=("this",)).text() == (
        "not reviewed: this\n\nnothing was judged: no AWS::SageMaker::Cluster or training job is at hand"
    )


@pytest.mark.parametrize(
    ("findings", "words"),
    [
        ([], "no findings"),
        ([PASS], "no findings"),
        ([FINDING], "1 error"),
        ([FINDING, FINDING, WARNING, UNKNOWN, UNKNOWN], "2 errors, 1 warning, 2 undetermined"),
        ([ACCEPTED, ADVICE, ADVICE, WARNING, WARNING], "2 warnings, 2 advice, 1 acknowledged"),
    ],
)
def test_findings_are_counted_in_words(findings, words):
    assert count(findings) == words


@pytest.mark.parametrize(
    ("finding", "label"),
    [
        (FINDING, "error"),
        (WARNING, "warning"),
        (ADVICE, "advice"),
        (UNKNOWN, "undetermined"),
        (ACCEPTED, "acknowledged"),
        (dataclasses.replace(ACCEPTED, outcome="undetermined"), "acknowledged"),
        (PASS, "pass"),
    ],
)
def test_a_finding_counts_as_one_thing(finding, label):
    assert finding.label == label
    assert {name for name, number in tally([finding]).items() if number} == {label}


def test_what_is_acknowledged_is_a_finding_and_no_longer_open():
    report = Report((PASS, ACCEPTED, FINDING))
    assert report.findings == (ACCEPTED, FINDING)
    assert report.open == (FINDING,)
    assert "  acknowledged: because (acks.yaml:3)\n" in ACCEPTED.text()


def test_a_place_has_the_line_where_it_is_known():
    assert FINDING.place == ""
    assert dataclasses.replace(FINDING, file="t.json").place == "t.json"
    assert "  file:  t.json:7\n" in dataclasses.replace(FINDING, file="t.json", line=7).text()


def test_reports_are_put_together_and_limits_said_once():
    together = merged([Report((FINDING,), ("a", "b")), Report((WARNING,), ("b", "c"))])
    assert together == Report((FINDING, WARNING), ("a", "b", "c"))
