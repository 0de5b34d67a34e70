"""The command `hyperpod-review`: policy review of any synthesized template and manifest."""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_model.command_line.parser import UsageError
from hyperpod_model.command_line.process import UNUSABLE, ended, refused
from hyperpod_policy.command.arguments import PROGRAM, parsed

__all__ = ["UNUSABLE", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: Arguments after the program's name. By default those of the process.

    Returns:
        The exit code: 0 clean, 1 findings, 2 unusable input or a wrong option.
    """
    return ended(PROGRAM, lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    options = parsed(argv)
    # Imported only now, so that --help and --version answer at once.
    from hyperpod_model.faults import InvalidInputError
    from hyperpod_policy.command.processes import collecting_rarely
    from hyperpod_policy.command.run import run
    from hyperpod_policy.sources import UnusableInputError

    try:
        with collecting_rarely():
            return run(options)
    except (UsageError, UnusableInputError, InvalidInputError) as error:
        return refused(PROGRAM, error)
