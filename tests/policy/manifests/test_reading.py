from __future__ import annotations

from fractions import Fraction

import pytest

from hyperpod_policy.manifests.reading import integer, is_deferred, quantity


@pytest.mark.parametrize(
    ("written", "worth"),
    [
        (8, 8),
        ("512Gi", 512 * 2**30),
        ("1.5Ki", 1536),
        ("250m", Fraction(1, 4)),
        (".5", Fraction(1, 2)),
        ("1e3", 1000),
        ("2E", 2 * 10**18),
        ("2E2", 200),
        ("5.", 5),
        ("-1", -1),
        (0.5, Fraction(1, 2)),
    ],
)
def test_quantities_are_those_of_kubernetes(written, worth):
    assert quantity(written) == worth


@pytest.mark.parametrize(
    "written", ["", "1GB", "1 Gi", "Gi", "1gi", True, None, [], "1e9999", "9" * 99, "\u0661Gi", "1K"]
)
def test_what_is_no_quantity_is_none(written):
    assert quantity(written) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [("${A}", True), ("$A", True), ("a-$A-b", True), ("{{ .Values.a }}", True), ({"Ref": "A"}, True)],
)
def test_what_is_filled_in_later_is_told(value, expected):
    assert is_deferred(value) is expected


@pytest.mark.parametrize("value", ["a", "5$", "$(A)", "{a}", {"a": 1}, {"Ref": 1, "b": 2}, 5, None])
def test_what_is_final_is_told(value):
    assert not is_deferred(value)


@pytest.mark.parametrize(
    ("value", "number"),
    [(5, 5), ("5", 5), ("-5", -5), (True, None), ("5s", None), (5.0, None), ("\u0665", None)],
)
def test_whole_numbers_may_be_text(value, number):
    assert integer(value) == number
