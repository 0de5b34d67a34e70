"""Names of queues whose jobs are counted."""

from __future__ import annotations

from typing import Any

from hyperpod_model.checks.reading import is_unknown
from hyperpod_model.faults import Fault


def check_job_queues(queues: Any) -> list[Fault]:
    """Check queues that graphs show.

    Args:
        queues: Their names, any of which may be ``UNKNOWN``; None for those that there are.
    """
    if queues is None:
        return []
    if not isinstance(queues, (list, tuple)):
        return [Fault(("queues",), f"must be a list, got {queues!r}; put it in brackets")]
    faults = []
    for index, queue in enumerate(queues):
        if is_unknown(queue):
            continue
        if not isinstance(queue, str) or not queue:
            message = f"must be the name of a partition of Slurm or of a namespace, got {queue!r}"
            faults.append(Fault(("queues", index), message))
        elif queue in queues[:index]:
            faults.append(Fault(("queues", index), f"{queue!r} is given twice; leave one out"))
    return faults
