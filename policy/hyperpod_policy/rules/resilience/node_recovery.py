"""HyperPod replaces broken nodes by itself."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.clusters import clusters
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Template
from hyperpod_policy.values import Unresolved

_AUTOMATIC = "Automatic"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the node recovery of each cluster."""
    for cluster in clusters(template):
        mode = cluster.get("NodeRecovery")
        if isinstance(mode, Unresolved):
            yield undetermined(cluster, "NodeRecovery", found=f"is {mode}", allowed=_AUTOMATIC)
        elif mode is None:
            found = "is not set, and neither API nor CloudFormation documents a default"
            yield undetermined(cluster, "NodeRecovery", found=found, allowed=_AUTOMATIC)
        elif mode != _AUTOMATIC:
            yield failed(cluster, "NodeRecovery", found=f"is {mode}", allowed=_AUTOMATIC)
        else:
            yield passed(cluster, "NodeRecovery")


RULE = Rule(
    id="NodeRecovery",
    title="HyperPod replaces broken nodes by itself",
    severity="error",
    why=(
        "Without it HyperPod only labels a broken node. Jobs with auto-resume wait for a replacement that "
        "nobody orders, while the rest of the cluster idles."
    ),
    fix=(
        "set NodeRecovery to Automatic, or acknowledge the finding with a reason and a plan who replaces "
        "nodes"
    ),
    source="SageMaker API reference, CreateCluster NodeRecovery; developer guide, HyperPod resiliency",
    check=check,
)
