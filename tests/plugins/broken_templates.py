"""Templates with an odd value somewhere in them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

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


def _spots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from _spots(item, (*path, key))


def broken(whole: Any, number: int) -> Iterator[Any]:
    """Yield templates with one odd value each, at every 67th place, from another start for each value.

    Args:
        whole: The sound template.
        number: Which odd value.
    """
    for path in itertools.islice(_spots(whole), number, None, STEP):
        changed = copy.deepcopy(whole)
        place = changed
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = copy.deepcopy(ODD[number])
        yield changed
