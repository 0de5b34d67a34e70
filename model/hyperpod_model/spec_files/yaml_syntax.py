"""What is wrong with a text that is no YAML, in words and with what to do."""

from __future__ import annotations

import codecs
import re

import yaml
from yaml.reader import Reader

from hyperpod_model.faults import Fault

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_JSON_TEXT = re.compile(r'"(?:\\.|[^"\\])*"')
_NOT_IN_PLACE = "does not fit where it stands; indent this line like those it belongs to"


def text_of(content: bytes) -> str | Fault:
    """Decode a file, in UTF-8 or, with a byte order mark, UTF-16.

    Args:
        content: The file.

    Returns:
        The text, or the fault that it is none.
    """
    encoding = "utf-16" if content.startswith(_UTF16_MARKS) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return Fault((), "is not in UTF-8; save the file as UTF-8", line=line)
    found = Reader.NON_PRINTABLE.search(text)
    if found is None:
        return text
    message = f"holds the control character U+{ord(found[0]):04X}; save it as plain text in UTF-8"
    return Fault((), message, line=text.count("\n", 0, found.start()) + 1)


def syntax_fault(error: yaml.MarkedYAMLError, text: str, *, subject: str = "cluster") -> Fault:
    """Say what is wrong where the reader had to stop.

    Args:
        error: What the reader found.
        text: What was read.
        subject: What a file describes. By default ``cluster``.
    """
    lines = text.splitlines()
    stopped = lines if error.problem_mark is None else lines[: error.problem_mark.line + 1]
    number = len(lines) if error.problem_mark is None else error.problem_mark.line + 1
    begun = number if error.context_mark is None else error.context_mark.line + 1
    line = lines[number - 1] if number <= len(lines) else ""
    before = line if error.problem_mark is None else line[: error.problem_mark.column]
    after = line[len(before) :]
    context, problem = str(error.context), str(error.problem)
    if "single document" in context:
        return _fault(f"a second document begins here; keep one {subject} in a file", number)
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return _fault("is indented with a tab, which YAML does not allow; indent with spaces", number)
    comment = _json_comment(stopped)
    if comment is not None:
        return _fault("JSON has no comments; remove it, or write the file in YAML", comment)
    if "',' or" in problem:
        mark = "bracket" if "]" in problem else "brace"
        message = f"a {mark} that is opened on line {begun} is not closed, or a comma is missing before this"
        return _fault(message, number)
    if "node content" in problem:
        return _fault(f"a value is missing before {after[:1]!r}; give one, or put it in quotes", number)
    if "expected ':'" in problem:
        return _fault(
            "is neither a field nor a value; write name: value, with a blank after the colon", begun
        )
    if "mapping values" in problem:
        if ": " in before.strip():
            message = "has a second ': ' in one line; put text that holds one in quotes, or begin a new line"
            return _fault(message, number)
        return _fault(f"{_NOT_IN_PLACE}, and see that the line before has its colon", number)
    if "'-' indicator" in problem or "expected key" in problem or "block end" in problem:
        return _fault(_NOT_IN_PLACE, number)
    if "undefined alias" in problem:
        name = re.split(r"[\s,\]}]", after[1:], maxsplit=1)[0]
        message = f"'*{name}' refers to no '&{name}' above it; put it in quotes if it is text"
        return _fault(message, number)
    if "end of stream" in problem:
        return _fault("a quote is not closed", begun)
    if "cannot start any token" in problem:
        return _fault(f"put text that begins with {after[:1]!r} in quotes", number)
    if "escape character" in problem:
        message = "a backslash in double quotes begins an escape; use single quotes, or double it"
        return _fault(message, number)
    return _fault(f"cannot be read as YAML: {f'{context} {problem}'.removeprefix('None ')}", number)


def _fault(message: str, line: int) -> Fault:
    return Fault((), message, line=line)


def _json_comment(lines: list[str]) -> int | None:
    if not lines or not lines[0].lstrip().startswith(("{", "[")):
        return None
    for number, line in enumerate(lines, start=1):
        if re.search(r"//|/\*", _JSON_TEXT.sub("", line)):
            return number
    return None
