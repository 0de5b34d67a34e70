from __future__ import annotations

from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from hyperpod_policy import Report
from hyperpod_policy.reports.markdown import MOST_CHARACTERS, render


class _Reader(HTMLParser):
    """Collects the elements of a page, and the text of its table cells."""

    def __init__(self):
        super().__init__()
        self.elements = []
        self.cells = []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


def _read(markdown):
    reader = _Reader()
    reader.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))
    return reader


def test_the_summary_comes_first_and_findings_are_tables(report, subject):
    text = render(report, subject)
    assert text.startswith("### hyperpod-review\n\n**2 errors, 1 warning, 1 advice, 1 undetermined, 1 acknow")
    assert "#### error: `BucketVersioning`: buckets keep old versions\n" in text
    cells = [cell.strip() for cell in _read(text).cells]
    assert cells[:3] == [
        "Other VersioningConfiguration.Statusa/t.yaml:40",
        "is Suspended; expected: Enabled",
        "set it to Enabled",
    ]
    assert "CloudTrail does (acks.yaml:3)" in cells
    assert "- nested stack N: its template is not at hand\n" in text


def test_kept_promises_are_for_verbose(report, subject):
    assert "#### pass: " in render(report, subject, verbose=True)
    assert "#### pass: " not in render(report, subject)


def test_a_template_writes_no_markup_and_mentions_nobody(hostile, subject):
    text = render(hostile, subject)
    reader = _read(text)
    assert set(reader.elements) <= {
        *("h3", "h4", "p", "strong", "code", "table", "thead", "tbody", "tr", "th", "td", "br"),
        *("details", "summary"),
    }
    assert len(reader.cells) == 3
    assert "@<!-- -->team #<!-- -->1" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("code", ["a`b", "``", "a|b", "`a`"])
def test_code_is_shown_as_it_is(finding, subject, code):
    reader = _read(render(Report((finding(logical_id=code, path=(), file=None),)), subject))
    assert reader.cells[0].strip() == code


@pytest.mark.parametrize("rules", [1, 400])
def test_a_comment_has_a_limit_and_says_what_is_left_out(finding, subject, rules):
    many = [finding(rule_id=f"R{number % rules}", found="x" * 1000) for number in range(400)]
    text = render(Report(tuple(many)), subject)
    assert MOST_CHARACTERS - 2000 < len(text) < MOST_CHARACTERS + 200
    shown = text.count("x" * 1000)
    assert f"\n{400 - shown} more findings, too many for a comment" in text


def test_what_was_not_reviewed_has_a_limit(subject):
    text = render(Report((), tuple(f"limit {number}" for number in range(30))), subject)
    assert "- limit 19\n- 10 more\n" in text
