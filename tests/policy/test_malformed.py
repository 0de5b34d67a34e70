from __future__ import annotations

import copy
import itertools
from typing import Any

import pytest

from hyperpod_policy import review

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


@pytest.mark.parametrize("number", range(len(ODD)), ids=lambda number: str(ODD[number]))
def test_no_malformed_value_crashes_a_review(template, number):
    """Each odd value at every 67th place of a template, from another start for each."""
    spots = itertools.islice(_spots(template), number, None, STEP)
    for path in spots:
        broken = copy.deepcopy(template)
        place = broken
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = copy.deepcopy(ODD[number])
        review(broken, region="us-west-2").text()
