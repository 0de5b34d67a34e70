"""Which lines of a shell script are code, and which are commands: quotes and here-documents are neither."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

_Kind: TypeAlias = Literal["code", "here-document", "quote"]

_HERE_DOCUMENT = re.compile(r"<<(-?)[ \t]*(?:'([^']+)'|\"([^\"]+)\"|\\?([^\s;|&<>()'\"`\\]+))")
_ARITHMETIC_START = re.compile(r"(?:^|[\s;&|!])$")
_BEFORE_COMMENT = " \t;&|("
CONTINUATION = re.compile(r"(?<!\\)(?:\\\\)*\\$")
"""The end of a line that the next one continues."""
_QUOTES = ("'", '"', "$'")
_WITHIN_A_LINE = ("(", "((")
"""Taken for closed at the end of a line: a pattern of `case` closes one that nothing opened."""


class Command(NamedTuple):
    """A command, with the lines that continue it.

    Attributes:
        number: Its first line.
        text: The lines as one.
        follows: Whether nothing but blank lines, comments and here-documents stand between it and the one
            before.
    """

    number: int
    text: str
    follows: bool


def lines_of_code(text: str) -> Iterator[tuple[int, str]]:
    """Lines outside of here-documents and of quotes that span lines, with their numbers.

    Args:
        text: The script.
    """
    for number, line, kind in _classified(text):
        if kind == "code":
            yield number, line


def commands_of(text: str) -> Iterator[Command]:
    """Commands, without comment lines and blank ones.

    Args:
        text: The script.
    """
    follows = True
    begun: Command | None = None
    for number, line, kind in _classified(text):
        stripped = line.strip()
        if kind == "quote":
            if begun is not None:
                yield begun
            begun, follows = None, False
        if kind != "code" or (begun is None and (not stripped or stripped.startswith("#"))):
            continue
        if begun is None:
            begun = Command(number, line.rstrip(), follows)
        else:
            begun = begun._replace(text=f"{begun.text} {stripped}")
        if CONTINUATION.search(begun.text):
            begun = begun._replace(text=begun.text[:-1].rstrip())
        else:
            yield begun
            begun, follows = None, True
    if begun is not None:
        yield begun


@functools.lru_cache(maxsize=1)  # each check of a script goes through its lines
def _classified(text: str) -> Sequence[tuple[int, str, _Kind]]:
    found: list[tuple[int, str, _Kind]] = []
    here_documents: list[tuple[str, bool]] = []
    within: Sequence[str] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        if here_documents:
            word, tabs = here_documents[0]
            if (line.lstrip("\t") if tabs else line).rstrip("\r") == word:
                del here_documents[0]
            found.append((number, line, "here-document"))
            continue
        starts_quoted = _is_quoted(within)
        within, opened = _read(line, within)
        if starts_quoted or _is_quoted(within):
            found.append((number, line, "quote"))
            continue
        here_documents = opened
        found.append((number, line, "code"))
    return tuple(found)


def _is_quoted(within: Sequence[str]) -> bool:
    return bool(within) and within[-1] in _QUOTES


def _read(line: str, within: Sequence[str]) -> tuple[Sequence[str], list[tuple[str, bool]]]:
    """What a line leaves open, outermost first, and the here-documents that begin after it."""
    opened: list[tuple[str, bool]] = []
    stack = list(within)
    at = 0
    while at < len(line):
        inside = stack[-1] if stack else ""
        character = line[at]
        if inside == "'":
            if character == "'":
                stack.pop()
        elif character == "\\":
            at += 1
        elif inside == "$'":
            if character == "'":
                stack.pop()
        elif line.startswith("$((", at):
            stack.append("((")
            at += 2
        elif line.startswith("$(", at):
            stack.append("$(")
            at += 1
        elif character == '"':
            if inside == '"':
                stack.pop()
            else:
                stack.append('"')
        elif inside == '"':
            pass
        elif inside == "((":
            if line.startswith("))", at):
                stack.pop()
                at += 1
            elif character == "(":
                stack.append("(")
        elif character == "'":
            stack.append("$'" if line[at - 1 : at] == "$" else "'")
        elif line.startswith("((", at) and _ARITHMETIC_START.search(line[:at]):
            stack.append("((")
            at += 1
        elif character == "(":
            stack.append("(")
        elif character == ")":
            if inside in ("(", "$("):
                stack.pop()
        elif character == "#" and (at == 0 or line[at - 1] in _BEFORE_COMMENT):
            break
        elif line.startswith("<<<", at):
            at += 2
        elif found := _HERE_DOCUMENT.match(line, at):
            # Within the parentheses of arithmetic it shifts.
            if "((" not in stack:
                opened.append((found[2] or found[3] or found[4], found[1] == "-"))
            at = found.end() - 1
        at += 1
    while stack and stack[-1] in _WITHIN_A_LINE:
        stack.pop()
    return stack, opened
