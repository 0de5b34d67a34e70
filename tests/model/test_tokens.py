"""Tokens of the CDK are told from values, without the CDK."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_model.tokens import is_token


@pytest.mark.parametrize(
    "value", ["${Token[TOKEN.42]}", "s3://${Token[Bucket.7]}/a", "${TOKEN[a.1]}", -1.8881545897087503e289]
)
def test_a_token_is_told(value: Any):
    assert is_token(value)


@pytest.mark.parametrize(
    "value", ["", "Token[a]", "${HOME}", "$(MASTER_ADDR)", 0, -1, 2**40, 0.5, -1e289, 1e289, True, None, []]
)
def test_a_value_is_none(value: Any):
    assert not is_token(value)
