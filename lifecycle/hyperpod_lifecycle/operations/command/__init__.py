"""The command `hyperpod-nodes`: what an operator does with the nodes of a live cluster."""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_lifecycle.operations.command.arguments import PROGRAM, parsed
from hyperpod_model.command_line.process import ended, refused

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: Arguments after the program's name. By default those of the process.

    Returns:
        The exit code: 0 well, 1 refused, declined, or not done for every node, 2 a wrong option, or AWS does
        not do what is asked.
    """
    return ended(PROGRAM, lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    options = parsed(argv)
    # Imported only now, so that --help and --version answer at once.
    from importlib import import_module

    from hyperpod_lifecycle.operations.errors import OperationError

    try:
        code: int = import_module(f"hyperpod_lifecycle.operations.command.{options.module}").run(options)
    except OperationError as error:
        return refused(PROGRAM, error)
    return code
