from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperpod_model.catalog import names
from hyperpod_model.cluster_spec import stack_name_of
from hyperpod_model.faults import InvalidInputError


def test_is_readable() -> None:
    assert stack_name_of("llm-train") == "hyperpod-llm-train"


@settings(max_examples=50, deadline=None)
@given(st.from_regex(f"(?:{names.CLUSTER.pattern})", fullmatch=True).filter(lambda name: len(name) <= 63))
def test_is_legal_for_cloudformation(name: str) -> None:
    stack = stack_name_of(name)
    assert re.fullmatch(r"[a-zA-Z][-a-zA-Z0-9]*", stack)
    assert len(stack) <= 128


@pytest.mark.parametrize("name", ["", "a_b", "-a", "a" * 64, "a b"])
def test_refuses_names_that_no_cluster_has(name: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^name: must be letters.*1 to 63 characters, got"):
        stack_name_of(name)
