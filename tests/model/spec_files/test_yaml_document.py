from __future__ import annotations

import json
import time

import pytest
import yaml

from hyperpod_model.faults import Fault
from hyperpod_model.spec_files import yaml_document
from hyperpod_model.spec_files.yaml_document import YamlDocument


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
        ("a: [1\nb: 2\n", 2, "a bracket that is opened on line 1 is not closed, or a comma is missing"),
        ('{"a": 1\n"b": 2}\n', 2, "a brace that is opened on line 1 is not closed, or a comma is missing"),
        ('{"a": 1,\n// b\n"b": 2}\n', 2, "JSON has no comments"),
        ('{"a": 1,\n"c": 3, // b\n"b": 2}\n', 2, "JSON has no comments"),
        ('{"a": 1,,\n"b": 2}\n', 1, "a value is missing"),
        ("a: 1\nb 2\nc: 3\n", 2, "write name: value, with a blank after the colon"),
        ("a: 1\nb:2\nc: 3\n", 2, "write name: value, with a blank after the colon"),
        ("a:\n  - b: 1\n   c: 2\n", 3, "indent this line like those it belongs to"),
        ("a:\n  b: 1\n c: 2\n", 3, "indent this line like those it belongs to"),
        ("a: 'b\nc: d\n", 1, "a quote is not closed"),
        ("a: @b\n", 1, "put text that begins with '@' in quotes"),
        ("a: b: c\n", 1, "a second ': ' in one line; put text that holds one in quotes, or begin a new line"),
        ("a: 1\n  b: 2\n", 2, "indent this line like those it belongs to"),
        ("a: 1\n---\nb: 2\n", 2, "keep one cluster in a file"),
        ("a: *nowhere\n", 1, "'*nowhere' refers to no '&nowhere' above it; put it in quotes if it is text"),
        ("a: 1\nb: 2\na: 3\n", 3, "is given twice, first on line 1"),
        ("x:\n  a: 1\n  a: 2\n", 3, "is given twice, first on line 2"),
        ("a: 1\nb: !Ref c\n", 2, "'!Ref' is a tag of another tool"),
        ("a: 2026-13-45\n", 1, "put it in quotes"),
        ("a: 1\non: x\n", 2, "the field name 'on' is read as a boolean, not as text; put it in quotes"),
        ("? \n: x\n", 1, "a field has no name"),
        ("1: x\n", 1, "the field name '1' is read as a number, not"),
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
    if merge:
        assert found.faults == []
    else:
        assert [fault.line for fault in found.faults] == [1]
        assert "values with its aliases written out, more than the 100000" in found.faults[0].message
        assert found.data is None
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


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"a: 1\nb: \x18\n", 2, "holds the control character U+0018; save it as plain text in UTF-8"),
        (b"a: 1\nb: \x00\n", 2, "holds the control character U+0000; save it as plain text in UTF-8"),
        ("a: 1\nb: \u00e9\n".encode("latin-1"), 2, "is not in UTF-8; save the file as UTF-8"),
        (b"\x7fELF\x02\x01\xff\xfe\x00", 1, "is not in UTF-8; save the file as UTF-8"),
    ],
)
def test_says_where_a_file_is_no_text(content: bytes, line: int, message: str) -> None:
    assert YamlDocument(content).faults == [Fault((), message, line=line)]


def test_an_item_that_lacks_its_hyphen_is_one_fault() -> None:
    text = "groups:\n  - name: a\n    count: 1\n    name: b\n    count: 2\n"
    [fault] = document(text).faults
    assert (fault.path, fault.line) == (("groups", 0, "name"), 4)
    assert fault.message == "is given twice, first on line 2; begin a new item with '- ', or remove one"
    [other] = document("groups:\n  - name: a\n    count: 1\n    count: 2\n").faults
    assert other.path == ("groups", 0, "count")


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_both_loaders_are_explained(loader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_document, "_Loader", getattr(yaml, loader))
    for text, message in {
        "a:\n  - b: 1\n   c: 2\n": "indent this line",
        "a: [1\nb: 2\n": "a bracket that is opened on line 1",
        "a: 1\nb 2\nc: 3\n": "write name: value",
        "a: 1\n---\nb: 2\n": "keep one cluster in a file",
        "a: *nowhere\n": "refers to no '&nowhere'",
    }.items():
        [fault] = document(text).faults
        assert message in fault.message
