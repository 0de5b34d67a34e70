"""The command `hyperpod-review`: policy review of any synthesized template and manifest."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

from hyperpod_policy.command.arguments import PROGRAM, UsageError, parsed

UNUSABLE: Final = 2
"""Exit code for input that cannot be reviewed, or a wrong option."""

_INTERRUPTED: Final = 130
_PIPE_CLOSED: Final = 141
"""What a shell reports for a program that SIGINT or SIGPIPE ended."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: Arguments after the program's name. By default those of the process.

    Returns:
        The exit code: 0 clean, 1 findings, 2 unusable input or a wrong option.
    """
    try:
        return _run(argv)
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # Python flushes standard output once more at exit, and would complain about the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except Exception:
        # Python would end with 1, which means findings.
        import traceback

        traceback.print_exc()
        print(f"{PROGRAM}: this is a fault of {PROGRAM} itself, please report it", file=sys.stderr)
        return UNUSABLE


def _run(argv: Sequence[str] | None) -> int:
    try:
        options = parsed(argv)
    except UsageError as error:
        return _refused(error)
    except SystemExit:  # after --help or --version
        return 0
    # Imported only now, so that --help and --version answer at once.
    from hyperpod_model.faults import InvalidInputError
    from hyperpod_policy.command.processes import collecting_rarely
    from hyperpod_policy.command.run import run
    from hyperpod_policy.sources import UnusableInputError

    try:
        with collecting_rarely():
            return run(options)
    except (UsageError, UnusableInputError, InvalidInputError) as error:
        return _refused(error)


def _refused(error: Exception) -> int:
    print(f"{PROGRAM}: {error}", file=sys.stderr)
    return UNUSABLE
