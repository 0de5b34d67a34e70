"""The command `hyperpod-goodput`: what failures cost a training run, estimated and measured."""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_lifecycle.goodput.command.arguments import PROGRAM, parsed
from hyperpod_model.command_line.process import ended, refused

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: Arguments after the program's name. By default those of the process.

    Returns:
        The exit code: 0 well, 1 a measured goodput below ``--at-least``, 2 unusable input or a wrong option.
    """
    return ended(PROGRAM, lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    options = parsed(argv)
    # Imported only now, so that --help and --version answer at once.
    from importlib import import_module

    from hyperpod_model.faults import InvalidInputError

    try:
        code: int = import_module(f"hyperpod_lifecycle.goodput.command.{options.module}").run(options)
    except InvalidInputError as error:
        return refused(PROGRAM, error)
    return code
