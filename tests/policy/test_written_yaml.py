from __future__ import annotations

import pytest

from hyperpod_policy.values import Pseudo, Reference, Text
from hyperpod_policy.written_yaml import written_yaml

TOPIC = Reference("Topic", "Ref")
REGION = Pseudo("AWS::Region")
BOMB = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [1, {b: null}]", {"a": [1, {"b": None}]}),
        (Text(("topic_arn: ", TOPIC)), {"topic_arn": TOPIC}),
        (Text(("a: x", TOPIC, "y", REGION)), {"a": Text(("x", TOPIC, "y", REGION))}),
        (Text(("a: |\n  b: ", TOPIC, "\n")), {"a": Text(("b: ", TOPIC, "\n"))}),
        (Text((TOPIC, ": 1")), {str(TOPIC): 1}),
        ("expr: a * b & c", {"expr": "a * b & c"}),
        (TOPIC, None),
        (None, None),
        ({"a": 1}, None),
        ("", None),
        ("a: 1\n---\nb: 2\n", None),
        ("no: [yaml", None),
        ("[" * 6000 + "]" * 6000, None),
        (BOMB, None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_yaml_is_decoded_around_what_is_unresolved(text, expected):
    assert written_yaml(text) == expected
