"""The autoscaler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.checks.reading import absent, text
from hyperpod_model.faults import Fault


def check_autoscaling(request: Mapping[str, Any]) -> list[Fault]:
    """Check that the autoscaler has a role to act with."""
    if text(request, "AutoScaling", "Mode") == "Enable" and absent(request, "ClusterRole"):
        return [
            Fault(
                ("ClusterRole",), "is required with autoscaling: the role that HyperPod assumes to add nodes"
            )
        ]
    return []
