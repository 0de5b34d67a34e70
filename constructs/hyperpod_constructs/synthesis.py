"""Synthesis that answers wrong input in words instead of tracebacks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

from aws_cdk import App
from jsii.errors import JavaScriptError

from hyperpod_model.faults import InvalidInputError

_FINDINGS = "ValidationFailed:"
_CONSTRUCT_ERRORS = "ValidationFailedWithErrors:"


def synthesize(build: Callable[[], App], *, stderr: TextIO | None = None) -> int:
    """Build an app and synthesize it.

    Args:
        build: Makes the app with all its stacks.
        stderr: Where errors go. Default: the process's standard error.

    Returns:
        The exit code for the process: 0, or 1 after one line per fault on ``stderr``. Set the environment
        variable ``HYPERPOD_TRACEBACK=1`` to see the Python traceback instead.
    """
    out = sys.stderr if stderr is None else stderr
    try:
        build().synth()
    except InvalidInputError as error:
        if _wants_traceback():
            raise
        lines: Iterator[str] = (str(fault) for fault in error.faults)
    except RuntimeError as error:
        if _wants_traceback() or not isinstance(error.__cause__, JavaScriptError):
            raise
        lines = _explain(str(error))
    else:
        return 0
    for line in lines:
        print(f"error: {line}", file=out)
    return 1


def _wants_traceback() -> bool:
    return os.environ.get("HYPERPOD_TRACEBACK") == "1"


def _explain(message: str) -> Iterator[str]:
    if message.startswith(_FINDINGS):
        yield (
            "the findings above are not acknowledged; mend them, or acknowledge each by its id with a reason"
            + message.removeprefix(_FINDINGS)
            .removeprefix(" Validation failed")
            .replace(". A copy", "; a copy")
        )
    elif message.startswith(_CONSTRUCT_ERRORS):
        for line in message.splitlines()[1:]:
            yield line.strip()
    else:
        yield from message.splitlines()
