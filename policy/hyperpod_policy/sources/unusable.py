"""Input that cannot be reviewed."""

from __future__ import annotations

from typing import Any


class UnusableInputError(ValueError):
    """Input that cannot be read or is nothing to review, in one line that says why and what to do.

    Args:
        problem: What is wrong, after the name of the input.
        file: Name of the input.
        line: Line in it, from 1. By default none.
    """

    def __init__(self, problem: str, *, file: str, line: int | None = None) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(_on_one_line(f"{place}: {problem}"))
        self._given = problem, file, line

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes, which would leave the keywords behind."""
        return _again, self._given


def _again(problem: str, file: str, line: int | None) -> UnusableInputError:
    return UnusableInputError(problem, file=file, line=line)


def _on_one_line(text: str) -> str:
    """Write characters out that would break the line or steer a terminal: names and keys are input, too."""
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text.strip()
    )
