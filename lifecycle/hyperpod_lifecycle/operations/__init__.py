"""Operations on a live cluster: what the command `hyperpod-nodes` does, for Python.

boto3 is imported when something is asked of AWS. What is listed in ``__all__`` is imported when it is first
asked for::

    from hyperpod_lifecycle.operations import Aws, HyperPod

    hyperpod = HyperPod(Aws(region="us-west-2"))
    cluster = hyperpod.cluster("llm-train")
    nodes = hyperpod.nodes(cluster)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperpod_lifecycle.operations.advice import Advice, Evidence, advise
    from hyperpod_lifecycle.operations.aws import Aws
    from hyperpod_lifecycle.operations.clusters import Cluster, Group, HyperPod, Node
    from hyperpod_lifecycle.operations.deep_checks import CheckPlan, plan_checks
    from hyperpod_lifecycle.operations.drills import DrillReport
    from hyperpod_lifecycle.operations.errors import OperationError
    from hyperpod_lifecycle.operations.node_health import HealthView, NodeHealth, SeenFault, health_of
    from hyperpod_lifecycle.operations.node_logs import LogLine, detected_faults, read_log
    from hyperpod_lifecycle.operations.node_names import named
    from hyperpod_lifecycle.operations.repairs import RepairOutcome, RepairPlan, carry_out, plan_repair
    from hyperpod_lifecycle.operations.sessions import session_command, target_of
    from hyperpod_lifecycle.operations.software import BatchSize, SoftwarePlan, plan_update
    from hyperpod_lifecycle.operations.stakes import AtStake, at_stake

_MODULES = {
    "advice": ("Advice", "Evidence", "advise"),
    "aws": ("Aws",),
    "clusters": ("Cluster", "Group", "HyperPod", "Node"),
    "deep_checks": ("CheckPlan", "plan_checks"),
    "drills": ("DrillReport",),
    "errors": ("OperationError",),
    "node_health": ("HealthView", "NodeHealth", "SeenFault", "health_of"),
    "node_logs": ("LogLine", "detected_faults", "read_log"),
    "node_names": ("named",),
    "repairs": ("RepairOutcome", "RepairPlan", "carry_out", "plan_repair"),
    "sessions": ("session_command", "target_of"),
    "stakes": ("AtStake", "at_stake"),
    "software": ("BatchSize", "SoftwarePlan", "plan_update"),
}
_OWNERS = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Advice",
    "AtStake",
    "Aws",
    "BatchSize",
    "CheckPlan",
    "Cluster",
    "DrillReport",
    "Evidence",
    "Group",
    "HealthView",
    "HyperPod",
    "LogLine",
    "Node",
    "NodeHealth",
    "OperationError",
    "RepairOutcome",
    "RepairPlan",
    "SeenFault",
    "SoftwarePlan",
    "advise",
    "at_stake",
    "carry_out",
    "detected_faults",
    "health_of",
    "named",
    "plan_checks",
    "plan_repair",
    "plan_update",
    "read_log",
    "session_command",
    "target_of",
]


def __getattr__(name: str) -> Any:
    if name not in _OWNERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_OWNERS[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
