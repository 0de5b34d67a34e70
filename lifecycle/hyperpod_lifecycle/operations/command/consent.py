"""Asks before something is changed."""

from __future__ import annotations

import sys

from hyperpod_model.command_line.parser import UsageError


def agreed(question: str, *, yes: bool, answer: str | None = None) -> bool:
    """Ask on standard error, so that standard output stays what was asked for.

    Args:
        question: In words.
        yes: Whether the user agreed beforehand.
        answer: What must be typed. Default: y or yes.

    Raises:
        UsageError: If nobody can answer.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("nobody can be asked here: say --yes, or --dry-run to only see what would be done")
    what = "[y/N]" if answer is None else f"[type {answer}]"
    print(f"{question} {what} ", end="", file=sys.stderr, flush=True)
    said = sys.stdin.readline().strip()
    return said.lower() in ("y", "yes") if answer is None else said == answer
