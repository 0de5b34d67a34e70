from __future__ import annotations

import copy
import itertools
from typing import Any

import pytest

from hyperpod_policy import compare, review

ODD: list[Any] = [
    None,
    -1,
    True,
    "",
    "*",
    [],
    [[{}]],
    {},
    {"Ref": None},
    {"Ref": "Cluster"},
    {"Ref": "AWS::NoValue"},
    {"Fn::If": [{}, 1, 2]},
    {"Fn::FindInMap": ["a", [], {}, "d"]},
    {"Fn::GetAtt": [[], {}]},
    {"Fn::Join": ["", [[], {}]]},
    {"Fn::Split": ["", ""]},
    {"Fn::Sub": ["${A}", {"A": []}]},
    {"Fn::ImportValue": {"a": []}},
    {1: 2},
]
STEP = 67


def _spots(value: Any, path: tuple[Any, ...] = ()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from _spots(item, (*path, key))


def _broken(whole: Any, number: int):
    for path in itertools.islice(_spots(whole), number, None, STEP):
        broken = copy.deepcopy(whole)
        place = broken
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = copy.deepcopy(ODD[number])
        yield broken


@pytest.mark.parametrize("number", range(len(ODD)), ids=lambda number: str(ODD[number]))
def test_no_malformed_value_crashes_a_review(template, eks_template, number):
    """Each odd value at every 67th place of a template, from another start for each."""
    for whole in (template, eks_template):
        for broken in _broken(whole, number):
            review(broken, region="us-west-2").text()


@pytest.mark.parametrize("number", range(len(ODD)), ids=lambda number: str(ODD[number]))
def test_no_malformed_value_crashes_a_comparison(template, number):
    for broken in _broken(template, number):
        compare(broken, template).text()
        compare(template, broken).text()
