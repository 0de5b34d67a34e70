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
_REPORT_PATH = "A copy of this report can be found in: "
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
        lines: Iterator[str] = (f"error: {fault}" for fault in error.faults)
    except RuntimeError as error:
        if _wants_traceback() or not isinstance(error.__cause__, JavaScriptError):
            raise
        lines = _explain(str(error))
    else:
        return 0
    for line in lines:
        print(line, file=out)
    return 1


def _wants_traceback() -> bool:
    return os.environ.get("HYPERPOD_TRACEBACK") == "1"


def _explain(message: str) -> Iterator[str]:
    if message.startswith(_FINDINGS):
        report, _, path = message.removeprefix(_FINDINGS).rpartition(_REPORT_PATH)
        # In some modes the CDK has printed the findings already, in others they come with the exception.
        if report.strip() != "Validation failed.":
            yield report.strip()
        yield (
            "error: the findings above are not acknowledged; mend them, or acknowledge each by its id with a "
            f"reason; they are also in {path.strip()}"
        )
    elif message.startswith(_CONSTRUCT_ERRORS):
        for line in message.splitlines()[1:]:
            yield f"error: {line.strip()}"
    else:
        for line in message.splitlines():
            yield f"error: {line}"
