"""On EKS, pods write checkpoints and nodes do not."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.buckets import guarded_buckets
from hyperpod_policy.clusters import distinct, execution_roles, orchestrator
from hyperpod_policy.node_writes import judge_node_writes
from hyperpod_policy.rule import Rule, Verdict
from hyperpod_policy.template import Template


def check(template: Template) -> Iterator[Verdict]:
    """Judge each execution role of an EKS cluster against each checkpoint bucket."""
    for guarded in guarded_buckets(template):
        if guarded.role == "checkpoint":
            allowed = f"pods write {guarded.words} with a role of their own, nodes never"
            for used, _ in distinct(execution_roles(template)):
                if orchestrator(used.cluster) == "eks":
                    yield judge_node_writes(template, guarded, used, allowed=allowed)


RULE = Rule(
    id="NodeCheckpointAccess",
    title="on EKS the nodes' execution role cannot write checkpoints",
    severity="error",
    why=(
        "Every pod on the host network can take the role of its node. If that role writes checkpoints, any "
        "such pod, of any team, replaces a checkpoint with code that runs in all training pods when they "
        "load it."
    ),
    fix=(
        "take the bucket out of the execution role's policies and out of the bucket policy's writers; give "
        "the job's service account a role (TrainingPodRole) and list that"
    ),
    source=(
        "EKS user guide, EKS Pod Identity and security best practices (access to the node's role); Python "
        "documentation, pickle (warning)"
    ),
    check=check,
)
