"""Whether HyperPod repairs faulty nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.checks.reading import text
from hyperpod_model.faults import Fault


def check_node_recovery(request: Mapping[str, Any]) -> list[Fault]:
    """Check that recovery is not switched off unawares."""
    if text(request, "NodeRecovery") == "None":
        return [
            Fault(
                ("NodeRecovery",),
                "'None' only labels faulty nodes and repairs nothing, which AWS does not recommend; "
                "use 'Automatic'",
                severity="warning",
            )
        ]
    return []
