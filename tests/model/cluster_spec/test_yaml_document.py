from __future__ import annotations

import json
import time

import pytest

from hyperpod_model.cluster_spec.yaml_document import YamlDocument


def document(text: str) -> YamlDocument:
    return YamlDocument(text.encode())


def test_reads_plain_values() -> None:
    found = document("a: 1\nb: [x, {c: true}]\nd: null\n")
    assert found.data == {"a": 1, "b": ["x", {"c": True}], "d": None}
    assert found.faults == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 2),
        (("a",), 2),
        (("b",), 3),
        (("b", 1), 5),
        (("b", 1, "c"), 5),
        (("b", 1, "d"), 6),
        (("b", 1, "missing"), 5),
        (("missing",), 2),
        (("b", 7), 3),
    ],
)
def test_knows_the_line_of_every_value(path: tuple[str | int, ...], line: int) -> None:
    assert document("# a comment\na: 1\nb:\n  - x\n  - c: 2\n    d: 3\n").line(path) == line


def test_reads_json_with_tabs_and_escapes() -> None:
    text = '{\n\t"a": "x\\/y",\n\t"b": [1]\n}\n'
    found = document(text)
    assert found.data == json.loads(text)
    assert found.line(("b",)) == 3


def test_reads_files_with_a_byte_order_mark() -> None:
    assert YamlDocument("a: é".encode("utf-8-sig")).data == {"a": "é"}
    assert YamlDocument('{"a": "é"}'.encode("utf-16")).data == {"a": "é"}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\n\tb: 2\n", 2, "is indented with a tab"),
        ("a:\n  b: 1\n\tc: 2\n", 3, "indent with spaces"),
        ("a: [1\nb: 2\n", 2, "did not find expected ',' or ']'"),
        ("a: b: c\n", 1, "mapping values are not allowed"),
        ("a: 1\n---\nb: 2\n", 2, "keep one cluster in a file"),
        ("a: *nowhere\n", 1, "undefined alias"),
        ("a: 1\nb: 2\na: 3\n", 3, "is given twice, first on line 1"),
        ("x:\n  a: 1\n  a: 2\n", 3, "is given twice, first on line 2"),
        ("a: 1\nb: !Ref c\n", 2, "could not determine a constructor for the tag '!Ref'; plain values only"),
        ("a: 2026-13-45\n", 1, "put it in quotes"),
        ("a: 1\non: x\n", 2, "the field name 'on' is read as bool"),
        ("1: x\n", 1, "the field name '1' is read as int"),
        ("a: {{ b }}\n", 1, "a field name must be plain text"),
        ("a: &x\n  b: *x\n", 2, "an alias refers to what holds it"),
        ("a:\n  <<: 5\n", 2, "merges mappings only"),
    ],
)
def test_says_what_is_wrong_with_the_file(text: str, line: int, message: str) -> None:
    faults = document(text).faults
    assert [fault.line for fault in faults if message in fault.message] == [line], faults


def test_says_that_a_file_is_no_text() -> None:
    [fault] = YamlDocument(b"a: \xff\xfe").faults
    assert "save the file as UTF-8" in fault.message


def test_reports_all_duplicates_together() -> None:
    assert len(document("a: 1\na: 2\nb:\n  c: 1\n  c: 2\n").faults) == 2


def test_merges_mappings_and_keeps_the_lines_of_where_they_stand() -> None:
    found = document("base: &base\n  a: 1\n  b: 2\nx:\n  <<: *base\n  b: 3\ny:\n  <<: [*base, {c: 4}]\n")
    assert found.faults == []
    assert found.data["x"] == {"a": 1, "b": 3}
    assert found.data["y"] == {"a": 1, "b": 2, "c": 4}
    assert found.line(("x", "a")) == 2
    assert found.line(("x", "b")) == 6


@pytest.mark.parametrize("merge", [False, True])
def test_nested_aliases_cannot_blow_up(merge: bool) -> None:
    lines = ["l0: &l0 {k: 1}"]
    for level in range(1, 30):
        aliases = ", ".join([f"*l{level - 1}"] * 9)
        lines.append(
            f"l{level}: &l{level} " + (f"{{<<: [{aliases}], k{level}: 1}}" if merge else f"[{aliases}]")
        )
    started = time.perf_counter()
    found = document("\n".join(lines))
    assert found.faults == []
    assert time.perf_counter() - started < 5


def test_keeps_the_text_as_it_was_written() -> None:
    found = document("a: 0123\nb:\n  - yes\n")
    assert found.data["a"] == 83
    assert found.written(("a",)) == "0123"
    assert found.written(("b", 0)) == "yes"
    assert found.written(("b",)) is None
    assert found.written(("missing",)) is None
    assert found.written(("b", 4)) is None


def test_an_empty_file_has_no_data_and_no_fault() -> None:
    found = document("# nothing\n")
    assert found.data is None
    assert found.faults == []
    assert found.line(("a",)) is None
