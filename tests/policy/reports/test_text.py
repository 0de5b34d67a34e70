from __future__ import annotations

import re

from hyperpod_policy import Report
from hyperpod_policy.reports.subject import Subject
from hyperpod_policy.reports.text import one_a_line, render


def test_the_most_urgent_comes_first_and_the_summary_last(report, subject):
    text = render(report, subject)
    labels = re.findall(
        r"^(error|warning|advice|undetermined|acknowledged|not reviewed): ?", text, re.MULTILINE
    )
    assert labels == ["error", "warning", "advice", "undetermined", "acknowledged", "not reviewed"]
    assert text.endswith(
        "\n\n2 errors, 1 warning, 1 advice, 1 undetermined, 1 acknowledged; 1 promise kept "
        "(2 templates and 1 manifest by 45 rules)\n"
    )


def test_a_rule_is_explained_once_for_all_its_findings(report, subject):
    block = render(report, subject).split("\n\n")[0]
    assert block == (
        "error: BucketVersioning: buckets keep old versions\n"
        "  why:   Versions are lost.\n"
        "  fix:   set it to Enabled\n"
        "  see:   S3 user guide\n"
        "  Other (AWS::S3::Bucket) VersioningConfiguration.Status\n"
        "    at:    a/t.yaml:40\n"
        "    found: is Suspended; expected: Enabled\n"
        "  Bucket (AWS::S3::Bucket) VersioningConfiguration.Status\n"
        "    at:    a/t.yaml:12\n"
        "    found: is Suspended; expected: Enabled"
    )


def test_remedies_that_differ_stand_with_their_findings(finding, subject):
    text = render(Report((finding(), finding(fix="another way"))), subject)
    assert "    fix:   set it to Enabled\n" in text
    assert "    fix:   another way\n" in text
    assert "\n  fix:" not in text


def test_an_acknowledged_finding_has_its_reason(report, subject):
    assert "    reason: CloudTrail does (acks.yaml:3, until 2030-01-31)\n" in render(report, subject)


def test_kept_promises_are_for_verbose(report, subject):
    assert "pass: BucketVersioning: Bucket (AWS::S3::Bucket)" in render(report, subject, verbose=True)
    assert "pass: " not in render(report, subject)


def test_lines_are_wrapped_below_what_they_belong_to(finding, subject):
    text = render(Report((finding(found="word " * 30),)), subject, width=50)
    lines = text.splitlines()
    assert max(len(line) for line in lines) <= 50
    assert all(line == line.rstrip() for line in lines)
    first = next(number for number, line in enumerate(lines) if line.startswith("    found:"))
    assert lines[first + 1].startswith("           word")


def test_a_word_longer_than_a_line_is_folded(finding, subject):
    text = render(Report((finding(found="z" * 200),)), subject, width=50)
    assert max(len(line) for line in text.splitlines()) <= 50
    assert text.count("z") == 200


def test_nothing_is_wrapped_without_a_width(finding, subject):
    assert "word " * 60 in render(Report((finding(found="word " * 61),)), subject)


def test_colour_is_as_asked(report, subject):
    assert "\x1b[1;31merror: " in render(report, subject, colour=True)
    assert "\x1b" not in render(report, subject)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", render(report, subject, colour=True))
    assert plain == render(report, subject)


def test_markup_in_a_template_is_text(finding, subject):
    assert "[bold]x[/bold]" in render(Report((finding(found="[bold]x[/bold]"),)), subject, colour=True)


def test_a_template_cannot_steer_the_terminal(hostile, subject):
    for text in (render(hostile, subject), one_a_line(hostile)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e\u200b]", text)
        assert "\\x1b[31mx\\x07\\r\\n" in text
        assert "\\u202e" in text
    assert one_a_line(hostile).count("\n") == 1


def test_nothing_judged_is_said():
    assert render(Report(()), Subject(0, 1, 1)) == (
        "nothing was judged: no AWS::SageMaker::Cluster or training job is at hand (1 manifest by 1 rule)\n"
    )


def test_one_line_for_each_open_finding(report):
    assert one_a_line(report).splitlines()[:2] == [
        "a/t.yaml:40: error: BucketVersioning: Other (AWS::S3::Bucket) VersioningConfiguration.Status: "
        "is Suspended; expected: Enabled",
        "a/t.yaml:12: error: BucketVersioning: Bucket (AWS::S3::Bucket) VersioningConfiguration.Status: "
        "is Suspended; expected: Enabled",
    ]
    assert "BucketAccessLogs" not in one_a_line(report)
    assert "\nadvice: Alarms: Bucket (AWS::S3::Bucket): " in one_a_line(report)
