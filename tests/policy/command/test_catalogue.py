from __future__ import annotations

import json

import pytest

from hyperpod_policy.acknowledgements import ACKNOWLEDGEMENT_RULES
from hyperpod_policy.command.catalogue import explained
from hyperpod_policy.registry import GROUPS, MANIFEST_RULES, RULES, UPDATE_RULES

EVERY = (*RULES, *MANIFEST_RULES, *UPDATE_RULES, *ACKNOWLEDGEMENT_RULES)


def test_every_rule_is_listed_once(run):
    lines = run("--list-rules").out.splitlines()
    assert [line.split()[0] for line in lines] == [rule.id for rule in EVERY]
    assert lines[0].split()[:3] == [RULES[0].id, RULES[0].severity, next(iter(GROUPS))]


def test_the_list_is_for_programs_as_well(run):
    listed = json.loads(run("--list-rules", "--format", "json").out)["rules"]
    assert [rule["rule_id"] for rule in listed] == [rule.id for rule in EVERY]
    assert all(rule["group"] and rule["why"] and rule["fix"] and rule["source"] for rule in listed)


def test_ids_are_unique_among_all_rules():
    assert len({rule.id for rule in EVERY}) == len(EVERY)


@pytest.mark.parametrize("rule", EVERY, ids=lambda rule: rule.id)
def test_a_rule_is_explained(rule):
    text = explained(rule.id)
    for part in (rule.title, rule.why, rule.fix, rule.source, f"severity: {rule.severity}"):
        assert part in text


def test_an_explanation_says_how_to_acknowledge(run):
    text = run("--explain", "BucketVersioning").out
    assert 'Acknowledgment(id="HyperPodChecks::BucketVersioning", reason="...")' in text
    assert "- id: BucketVersioning" in text
    assert "acknowledge(" not in run("--explain", "AcknowledgementExpired").out


def test_an_explanation_is_wrapped_for_a_terminal():
    text, _, _ = explained("BucketVersioning", 60).partition("To accept")
    assert max(len(line) for line in text.splitlines()) <= 60
    assert " ".join(text.split()) in " ".join(explained("BucketVersioning").split())
