"""Calls a handler once: ``invoke.py FOLDER_OF_CODE MODULE.FUNCTION EVENT_FILE TIMEOUT_SECONDS``.

A program, not a module of the double: it imports nothing of it, as a function in AWS Lambda would not.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import uuid
from pathlib import Path


class Context:
    """What of a function's context handlers ask for."""

    def __init__(self, timeout_seconds: float) -> None:
        self.function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
        self.aws_request_id = str(uuid.uuid4())
        self.log_stream_name = f"{time.strftime('%Y/%m/%d')}/[$LATEST]{uuid.uuid4().hex}"
        self._deadline = time.monotonic() + timeout_seconds

    def get_remaining_time_in_millis(self) -> int:
        """Return how long the function may still run."""
        return max(0, int((self._deadline - time.monotonic()) * 1000))


def main(code: str, handler: str, event_file: str, timeout_seconds: str) -> None:
    """Import the handler and call it."""
    sys.path.insert(0, code)
    module, _, name = handler.rpartition(".")
    event = json.loads(Path(event_file).read_text(encoding="utf-8"))
    getattr(importlib.import_module(module.replace("/", ".")), name)(event, Context(float(timeout_seconds)))


if __name__ == "__main__":
    main(*sys.argv[1:])
