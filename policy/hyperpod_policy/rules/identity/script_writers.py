"""Nodes cannot rewrite the scripts from which they start."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.buckets import guarded_buckets
from hyperpod_policy.clusters import distinct, execution_roles
from hyperpod_policy.node_writes import judge_node_writes
from hyperpod_policy.rule import Rule, Verdict
from hyperpod_policy.script_detours import judge_detours
from hyperpod_policy.template import Template


def check(template: Template) -> Iterator[Verdict]:
    """Judge each execution role against each lifecycle-script bucket."""
    for guarded in guarded_buckets(template):
        if guarded.role == "lifecycle script":
            allowed = f"nodes read {guarded.words} and never write it or change its configuration"
            for used, _ in distinct(execution_roles(template)):
                detours = [*judge_detours(template, guarded, used, allowed=allowed)]
                direct = judge_node_writes(template, guarded, used, allowed=allowed)
                yield from detours if detours and direct.outcome == "pass" else (direct, *detours)


RULE = Rule(
    id="ScriptWriters",
    title="nodes cannot rewrite the lifecycle scripts from which they start",
    severity="error",
    why=(
        "A job that can write the script bucket turns one compromised node into root on every node that is "
        "replaced or updated later, long after the job has ended."
    ),
    fix=(
        "take the write actions out of the execution role's policies, and deny object writes in the bucket "
        "policy to every principal but the upload's role; LifecycleScripts does both"
    ),
    source=(
        "SageMaker developer guide, HyperPod lifecycle scripts (run as root); IAM user guide, policy "
        "evaluation"
    ),
    check=check,
)
