from __future__ import annotations

import json

import pytest

from hyperpod_policy.sources import UnusableInputError
from hyperpod_policy.sources.json_text import JsonMarks, decode_json

TEXT = """
{
  "Resources": {
    "Bucket": {
      "Type": "AWS::S3::Bucket", "Properties": {
        "Tags": [
          {"Key": "a: [{", "Value": "\\"}]"},
          {
            "Key": "b"
          }
        ],
        "Empty": {}, "None": []
      }
    }
  }
}
"""


def test_json_is_decoded():
    assert decode_json('{"a": [1, 1e3, -0.5, true, null, "\\ud83d\\ude00"]}', file="x") == {
        "a": [1, 1000.0, -0.5, True, None, "😀"]
    }


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 2),
        (("Resources",), 3),
        (("Resources", "Bucket"), 4),
        (("Resources", "Bucket", "Type"), 5),
        (("Resources", "Bucket", "Properties"), 5),
        (("Resources", "Bucket", "Properties", "Tags"), 6),
        (("Resources", "Bucket", "Properties", "Tags", 0, "Value"), 7),
        (("Resources", "Bucket", "Properties", "Tags", 1), 8),
        (("Resources", "Bucket", "Properties", "Tags", 1, "Key"), 9),
        (("Resources", "Bucket", "Properties", "None"), 12),
        (("Resources", "Bucket", "Properties", "Tags", 7, "Key"), 6),
        (("Resources", "Bucket", "Properties", "Tags", "Key"), 6),
        (("Resources", "Bucket", "Properties", "Empty", "x"), 12),
        (("Resources", "Bucket", "Type", "x", 0), 5),
        (("Resources", "Other", "Type"), 3),
        (("Outputs",), 2),
    ],
)
def test_a_mark_is_the_line_of_the_nearest_part_in_the_file(path, line):
    assert JsonMarks(TEXT).line(path) == line


def test_marks_of_a_part_take_paths_that_begin_there():
    marks = JsonMarks(TEXT).below("Resources", "Bucket")
    assert (marks.line(()), marks.line(("Properties", "Tags"))) == (4, 6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x: is no JSON: Expecting value"),
        ('{"a": 1,\n}', "x:2: is no JSON: "),
        ('{"a": 1}\n{}', "x:2: is no JSON: Extra data"),
        ('{"a": 1,\n"a": 2}', "x:2: 'a' is given twice, first on line 1"),
        ('{"a": [{}, {"b": 1,\n"c": {"d": 1,\n"d": 2}}]}', "x:3: 'd' is given twice, first on line 2"),
        ("[NaN]", "x: is no JSON: NaN is no number"),
        ("9" * 5000, "x: is no JSON: Exceeds the limit"),
        ('["\\ud800"]', "x: holds half of a character"),
        ("[" * 101 + "]" * 101, "x: is nested more than 100 levels deep"),
        ("[" * 100_000, "x: is nested more than 100 levels deep"),
    ],
)
def test_other_text_is_refused_in_one_line(text, message):
    with pytest.raises(UnusableInputError) as refused:
        decode_json(text, file="x")
    said = str(refused.value)
    assert said.replace("x:1: ", "x: ").startswith(message)
    assert "\n" not in said


def test_as_many_levels_as_allowed_are_read():
    text = "[" * 100 + "]" * 100
    assert decode_json(text, file="x") == json.loads(text)
