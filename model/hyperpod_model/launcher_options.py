"""Options of ``torchrun`` and ``hyperpodrun`` as a command says them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, NamedTuple

_SWITCHES: Final = frozenset(
    {"standalone", "no_python", "module", "m", "run_path", "virtual_local_rank", "inprocess_restart"}
)
_SEPARATORS: Final = frozenset({"&&", "||", ";", "|", "&", "(", ")", ";;", "|&"})
_CONTINUED: Final = re.compile(r"\\\r?\n")
_LETTER_WITH_VALUE: Final = re.compile(r"-([rt])([^-=].*)", re.DOTALL)
_MAY_BE_OPTIONS: Final = re.compile(r"\$([\w@*]+|\{[^}]*\}|\([^)]*\))", re.DOTALL)
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


class LauncherOptions(NamedTuple):
    """Options of a launcher.

    Attributes:
        values: By name without dashes, ``_`` for ``-``; the one said last is last.
        is_all: Whether there are no others: a variable among them may hold some.
    """

    values: Mapping[str, str]
    is_all: bool = True


def options_of(words: Sequence[str]) -> LauncherOptions:
    """Read the options of a launcher, which end where the script begins.

    Args:
        words: What stands behind the launcher.
    """
    found: dict[str, str] = {}
    position = 0
    while position < len(words) and words[position].startswith("-") and words[position] != "--":
        letter = _LETTER_WITH_VALUE.fullmatch(words[position])
        name, equals, value = words[position].lstrip("-").partition("=")
        if letter is not None:
            name, equals, value = letter[1], "=", letter[2]
        name = name.replace("-", "_")
        position += 1
        if not equals and name not in _SWITCHES and position < len(words):
            value = words[position]
            position += 1
        found.pop(name, None)
        found[name] = value
    rest = words[position : position + 1]
    # The words of a script end at the parenthesis of $(nproc).
    is_cut = bool(words) and words[-1].endswith("$")
    return LauncherOptions(found, not is_cut and not any(map(_MAY_BE_OPTIONS.fullmatch, rest)))


def find_options(words: Sequence[str], *, launcher: str) -> LauncherOptions | None:
    """Find a launcher in a command, or in a script that a shell gets there, and read its options.

    Args:
        words: Program and arguments.
        launcher: Name of the launcher's program.

    Returns:
        Its options, ``None`` if it is not seen, as in a script within the image.
    """
    for command in _commands_of(words):
        for position, word in enumerate(command):
            if PurePosixPath(word).name == launcher:
                return options_of(command[position + 1 :])
    return None


def assigned_variables(words: Sequence[str]) -> dict[str, str]:
    """Read the variables that a command sets, as in ``env A=1 program``, ``export A=1`` or ``A=1 program``.

    Args:
        words: Program and arguments.
    """
    found = (_ASSIGNMENT.fullmatch(word) for command in _commands_of(words) for word in command)
    return {match[1]: match[2] for match in found if match is not None}


def script_commands(script: str) -> Iterator[tuple[list[str], str]]:
    """Yield each command of a script with what ends it.

    Args:
        script: Lines for a shell.

    Raises:
        ValueError: If a quotation is left open.
    """
    for line in _CONTINUED.sub(" ", script).splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        found: list[str] = []
        for token in lexer:
            if token in _SEPARATORS:
                if found:
                    yield found, token
                found = []
            else:
                found.append(token)
        if found:
            yield found, ""


def _commands_of(words: Sequence[str]) -> list[list[str]]:
    """Return the command itself, and those of each word of it that is a script."""
    found = [list(words)]
    for word in words:
        if len(word.split()) > 1:
            try:
                found += [command for command, _ in script_commands(word)]
            except ValueError:
                continue
    return found
