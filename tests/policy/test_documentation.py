from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_policy.documentation import BEGIN, END, with_current_rules
from hyperpod_policy.registry import MANIFEST_RULES, RULES, UPDATE_RULES

PAGE = Path(__file__).parents[2] / "docs" / "policy-rules.md"


def test_the_page_is_current():
    page = PAGE.read_text(encoding="utf-8")
    assert with_current_rules(page) == page, (
        "run: python -m hyperpod_policy.documentation docs/policy-rules.md"
    )


def test_a_stale_page_is_told():
    assert with_current_rules(f"a {BEGIN} old {END} b") != f"a {BEGIN} old {END} b"


@pytest.mark.parametrize("rule", [*RULES, *MANIFEST_RULES, *UPDATE_RULES], ids=lambda rule: rule.id)
def test_every_rule_is_explained(rule):
    page = PAGE.read_text(encoding="utf-8")
    assert f"### {rule.id}\n" in page
    assert rule.why in page
    assert rule.source in page


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="needs the marks"):
        with_current_rules("# Rules")
