"""What Container Insights makes of what containers print, as its Fluent Bit is configured.

A stand-in for it: built-in multiline parser ``cri``, filter ``kubernetes`` with ``Merge_Log On`` and
``Merge_Log_Key log_processed``, output ``cloudwatch_logs``. Source: helm chart
amazon-cloudwatch-observability and the sources of Fluent Bit, as the catalog says at ``PARSED_LINE_KEY``. The
key is written out here, so that a change there is noticed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

_KUBERNETES = {
    "pod_name": "llama-worker-0",
    "namespace_name": "training",
    "container_name": "pytorch",
    "host": "hyperpod-i-0123456789abcdef0",
}


def events_of(output: str) -> Iterator[str]:
    """Make events of CloudWatch Logs of what a container printed, one for each line.

    Args:
        output: What the container wrote to its standard output.
    """
    for line in output.splitlines():
        event = {
            "time": "2026-11-30T12:00:00.123456789Z",
            "stream": "stdout",
            "_p": "F",
            "log": line,
            "kubernetes": _KUBERNETES,
        }
        parsed = _parsed(line)
        yield json.dumps(event if parsed is None else {**event, "log_processed": parsed})


def _parsed(line: str) -> dict[str, object] | None:
    """Parse a line that is an object of JSON; others are left as they are."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
