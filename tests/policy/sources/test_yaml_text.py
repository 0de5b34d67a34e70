from __future__ import annotations

import pickle

import pytest

from hyperpod_policy.sources import UnusableInputError, yaml_text
from hyperpod_policy.sources.yaml_text import YamlMarks, decode_yaml


def value(text):
    (found,) = decode_yaml(text, file="x.yaml")
    return found.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("!Ref Bucket", {"Ref": "Bucket"}),
        ("!Condition IsProd", {"Condition": "IsProd"}),
        ("!Sub '${AWS::Region}-x'", {"Fn::Sub": "${AWS::Region}-x"}),
        ("!Sub ['${a}', {a: !Ref B}]", {"Fn::Sub": ["${a}", {"a": {"Ref": "B"}}]}),
        ("!GetAtt Bucket.Arn", {"Fn::GetAtt": ["Bucket", "Arn"]}),
        ("!GetAtt Inner.Outputs.Role.Arn", {"Fn::GetAtt": ["Inner", "Outputs.Role.Arn"]}),
        ("!GetAtt [Bucket, Arn]", {"Fn::GetAtt": ["Bucket", "Arn"]}),
        ("!If [C, !Ref 'AWS::NoValue', 1]", {"Fn::If": ["C", {"Ref": "AWS::NoValue"}, 1]}),
        ("!Base64\n  Fn::Sub: x", {"Fn::Base64": {"Fn::Sub": "x"}}),
        ("!Transform {Name: N}", {"Fn::Transform": {"Name": "N"}}),
        ("2010-09-09", "2010-09-09"),
        ("2010-09-09T00:00:00Z", "2010-09-09T00:00:00Z"),
        ("0x1F", 31),
        ("010", 8),
        ("1e3", "1e3"),
        ("1.5e+3", 1500.0),
        ("22:22", "22:22"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("'010'", "010"),
        ("yes", True),
        ("!!str 5", "5"),
        ("!!binary aGk=", "aGk="),
        ("!!set {a, b}", {"a": None, "b": None}),
        ("! x", "x"),
        ("{012345678901: a, 2010-01-01: b, yes: c, ~: d}", {
            "012345678901": "a", "2010-01-01": "b", "yes": "c", "~": "d"
        }),
        ("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}", {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}}),
        ("a: &a [1]\nb: *a", {"a": [1], "b": [1]}),
        ("\r\na: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
    ],
)  # fmt: skip
def test_yaml_is_decoded_as_cloudformation_reads_it(text, expected):
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3", 3, "'a' is given twice, first on line 1"),
        ("1: x\n'1': y", 2, "'1' is given twice"),
        ("a:\n\t- b", 2, "is indented with a tab"),
        ("a: [1", 2, "a bracket that is opened on line 1 is not closed"),
        ("a: b: c", 1, "has a second ': ' in one line"),
        ("a: *b", 1, "'*b' refers to no '&b' above it"),
        ("a: &a [*a]", 1, "an alias refers to what holds it"),
        ("a: &a {b: {<<: *a}}", 1, "an alias refers to what holds it"),
        ("x: 1\na: !vault x", 2, "'!vault' is a tag of another tool"),
        ("a: !Rain::Embed x", 1, "'!Rain::Embed' is a tag of another tool"),
        (
            "a: !!python/object/apply:os.system [x]",
            1,
            "'!!python/object/apply:os.system' is a tag of another",
        ),
        ("a: !<tag:example.com,2000:x> {}", 1, "is a tag of another tool"),
        ("a: !!int x", 1, "'x' is no int"),
        ("a: !!bool x", 1, "'x' is no bool"),
        ("a: !!int ''", 1, "'' is no int"),
        ("a: !!float '_'", 1, "'_' is no float"),
        ("? [a]\n: b", 1, "a key must be plain text"),
        ("<<: 3", 1, "'<<' merges mappings only"),
        ('"\\ud800": 1', 1, "cannot be read as YAML"),
        ("a: \x01", None, "is no YAML: control characters are not allowed"),
        ("[" * 101 + "]" * 101, None, "is nested more than 100 levels deep"),
        ("[" * 100_000, None, "is nested more than 100 levels deep"),
        ("- " * 100_000, None, "is nested more than 100 levels deep"),
        ("a: " + "9" * 5000, 1, "is no int; put text in quotes"),
    ],
)
def test_other_text_is_refused_in_one_line(text, line, words):
    with pytest.raises(UnusableInputError) as refused:
        decode_yaml(text, file="x.yaml")
    said = str(refused.value)
    assert words in said
    assert said.startswith("x.yaml: " if line is None else f"x.yaml:{line}: ")
    assert "\n" not in said


def test_aliases_of_aliases_are_counted_as_often_as_they_stand_there():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 8):
        lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]")
    assert len(value("\n".join(lines[:5]))) == 5
    with pytest.raises(UnusableInputError, match="values with its aliases written out, at most 300000"):
        decode_yaml("\n".join(lines), file="x.yaml")


def test_aliases_that_nest_each_other_are_too_deep():
    lines = ["- &a0 []", *(f"- &a{level} [*a{level - 1}]" for level in range(1, 200))]
    with pytest.raises(UnusableInputError, match="nested more than 100 levels deep"):
        decode_yaml("\n".join(lines), file="x.yaml")


def test_a_stream_has_its_documents_and_where_they_begin():
    found = decode_yaml("---\n---\na: 1\n---\n# nothing\n---\nb: 2\n", file="x.yaml")
    assert [(one.value, one.number, one.line) for one in found] == [({"a": 1}, 1, 3), ({"b": 2}, 3, 7)]


TEXT = """\
Resources:
  Bucket: &bucket
    Type: AWS::S3::Bucket
    Properties:
      Tags:
        - Key: a
          Value: !Ref A
        - !If [C, {Key: b}, !Ref "AWS::NoValue"]
  Other:
    <<: *bucket
    DependsOn: Bucket
---
kind: Pod
spec: {a: 1}
"""


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize(
    ("number", "path", "line"),
    [
        (0, (), 1),
        (0, ("Resources", "Bucket"), 2),
        (0, ("Resources", "Bucket", "Properties", "Tags", 0), 6),
        (0, ("Resources", "Bucket", "Properties", "Tags", 0, "Value"), 7),
        (0, ("Resources", "Bucket", "Properties", "Tags", 1, "Key"), 8),
        (0, ("Resources", "Bucket", "Properties", "Tags", 9), 5),
        (0, ("Resources", "Other", "DependsOn"), 11),
        (0, ("Resources", "Other", "Type"), 3),
        (0, ("Resources", "Nothing"), 1),
        (1, ("spec", "a"), 14),
    ],
)
def test_a_mark_is_the_line_of_the_nearest_part_in_the_file(number, path, line, copied):
    marks = YamlMarks(TEXT, number)
    assert marks.line(path) == line
    if copied:  # as for another process, which PyYAML's own marks cannot be sent to
        assert pickle.loads(pickle.dumps(marks)).line(path) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\n---\n  kind: Pod\n  spec:\n    b: 1\n", 5),
        ("a: 1\n--- {kind: Pod,\n spec: {\n  b: 1}}\n---\n", 4),
        ("a: 1\n--- &top\nkind: Pod\nspec: {b: 1}\n", 4),
        ("a: 1\r\n---\r\nkind: Pod\r\nspec:\r\n  b: 1\r\n", 5),
        ("a: 1\n...\n%TAG !y! tag:yaml.org,2002:\n---\nkind: !y!str Pod\nspec:\n  b: 1\n", 7),
        ("a: \U0001f600\n---\nkind: Pod\nspec:\n  b: 1\n", 5),
        ("# first\n---\n---\nkind: Pod\nspec:\n  b: 1\n", 6),
    ],
)
def test_a_mark_is_right_however_a_later_document_begins(text, line):
    last = decode_yaml(text, file="x.yaml")[-1]
    assert last.value["spec"] == {"b": 1}
    assert YamlMarks(text, last.number).line(("spec", "b")) == line


def test_each_document_of_a_long_stream_is_read_a_few_times_only(monkeypatch):
    count = 60
    text = "---\n".join(f"kind: Pod\nmetadata: {{name: p{number}}}\n" for number in range(count))
    read = []

    class Counting(yaml_text._Loader):
        def get_node(self):
            read.append(1)
            return super().get_node()

    monkeypatch.setattr(yaml_text, "_Loader", Counting)
    lines = [YamlMarks(text, number).line(("metadata", "name")) for number in range(count)]
    assert lines == [3 * number + 2 for number in range(count)]
    assert len(read) <= 3 * count


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("kind: A\nmetadata:\n  name: {{ .Release.Name }}\n", 3),
        ("kind: A\n{{- if .Values.elastic }}\nelasticPolicy: {}\n{{- end }}\n", 2),
        ("kind: A\nimage: {{ .Values.account }}.dkr.ecr.us-east-2.amazonaws.com/a:1\n", 2),
        ("kind: A\nargs:\n  - {{ .Values.script }}:x\n", 3),
        ("kind: A\n{% for group in groups %}\nb: 1\n{% endfor %}\n", 2),
    ],
)
def test_a_template_that_is_not_rendered_is_called_so(text, line):
    with pytest.raises(UnusableInputError, match=f"x.yaml:{line}: holds .* template engine.*render it first"):
        decode_yaml(text, file="x.yaml")


def test_braces_in_yaml_that_can_be_read_are_no_template():
    assert decode_yaml('a: "{{ .Values.a }}"\nb: {c: {d: 1}}\n', file="x.yaml")[0].value["b"] == {
        "c": {"d": 1}
    }
    with pytest.raises(UnusableInputError, match="does not fit where it stands"):
        decode_yaml('a: "{{ .Values.a }}"\n  b: 1\n', file="x.yaml")
