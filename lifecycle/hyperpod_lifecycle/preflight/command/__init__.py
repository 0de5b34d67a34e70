"""The command `hyperpod-preflight`: what stands in a cluster's way in an account, before it is deployed."""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_lifecycle.preflight.command.arguments import PROGRAM, parsed
from hyperpod_model.command_line.process import ended

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: Arguments after the program's name. By default those of the process.

    Returns:
        The exit code: 0 nothing found, 1 a problem (with ``--strict`` also what nobody can tell), 2 unusable
        input, a wrong option, or no access to AWS at all.
    """
    return ended(PROGRAM, lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    options = parsed(argv)
    # Imported only now, so that --help and --version answer at once.
    from hyperpod_lifecycle.preflight.command.asking import run

    return run(options)
