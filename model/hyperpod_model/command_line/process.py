"""How a command ends: with which exit code, and in which words."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Final

from hyperpod_model.command_line.parser import UsageError

UNUSABLE: Final = 2
"""Exit code for input that cannot be used, or a wrong option."""

_INTERRUPTED: Final = 130
_PIPE_CLOSED: Final = 141
"""What a shell reports for a program that SIGINT or SIGPIPE ended."""


def ended(program: str, run: Callable[[], int]) -> int:
    """Run a command to its end, however it ends.

    Args:
        program: Its name, for messages.
        run: What it does; returns its exit code.

    Returns:
        That exit code; 0 after help, 2 after a wrong option, and what a shell reports after an interrupt or
        when nobody reads on.
    """
    try:
        return run()
    except UsageError as error:
        return refused(program, error)
    except SystemExit:  # after --help or --version
        return 0
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # Python flushes standard output once more at exit, and would complain about the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except Exception:
        # Python would end with 1, which means findings.
        import traceback

        traceback.print_exc()
        print(f"{program}: this is a fault of {program} itself, please report it", file=sys.stderr)
        return UNUSABLE


def refused(program: str, error: Exception) -> int:
    """Say why input or an option cannot be used.

    Args:
        program: Name of the command.
        error: Why.

    Returns:
        The exit code for that.
    """
    print(f"{program}: {error}", file=sys.stderr)
    return UNUSABLE
