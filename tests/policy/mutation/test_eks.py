"""Every single weakening of the hardened EKS template is found, or takes nothing away."""

from __future__ import annotations

import pytest
from mutation_summary import PROPERTY


@pytest.fixture(scope="module")
def outcome(outcome_of):
    return outcome_of("llm-train-eks.yaml", "eks")


def test_every_weakening_is_found(outcome, record_property):
    record_property(PROPERTY, f"EKS: {outcome.words}")
    record_property(PROPERTY, f"  first by {outcome.by_rule}")
    assert outcome.survivors == []
    assert len(outcome.killed) > 1500


def test_the_table_lists_what_there_is_and_hides_nothing(outcome):
    assert outcome.idle == []
    assert outcome.wide == []
