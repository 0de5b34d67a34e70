from __future__ import annotations

import dataclasses

import pytest

from hyperpod_policy import Finding, Report
from hyperpod_policy.report import count

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
        "not reviewed: this\n\nnothing was judged: no AWS::SageMaker::Cluster is at hand"
    )


@pytest.mark.parametrize(
    ("findings", "words"),
    [
        ([], "no findings"),
        ([PASS], "no findings"),
        ([FINDING], "1 error"),
        ([FINDING, FINDING, WARNING, UNKNOWN, UNKNOWN], "2 errors, 1 warning, 2 undetermined"),
    ],
)
def test_findings_are_counted_in_words(findings, words):
    assert count(findings) == words
