"""The roles of pods have no more than their jobs need."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.iam import TIERED_CHECKPOINTING_METRIC_ACTIONS
from hyperpod_policy.identities import permissions
from hyperpod_policy.pod_roles import pod_roles
from hyperpod_policy.privileges import excesses
from hyperpod_policy.rule import Rule, Verdict, passed
from hyperpod_policy.template import Template

_ALLOWED = "named actions on the buckets, keys and groups at hand"
_DOCUMENTED = frozenset(
    action.lower()
    for action in TIERED_CHECKPOINTING_METRIC_ACTIONS.assuming(because="a metric grants nobody access")
)


def check(template: Template) -> Iterator[Verdict]:
    """Judge what each role that pods take may do."""
    for role in pod_roles(template):
        held = permissions(template, role)
        verdicts = [*excesses(held, documented=_DOCUMENTED, who="pods", allowed=_ALLOWED)]
        yield from verdicts if verdicts else [passed(role)]


RULE = Rule(
    id="PodRolePrivileges",
    title="the roles that pods take have no wildcards and cannot become others",
    severity="error",
    why=(
        "Whatever a job loads, images, packages and checkpoints, runs with the role of its pod. What that "
        "may do beyond its buckets is what a single malicious file may do to the account."
    ),
    fix=(
        "name the actions, and scope them to the buckets and keys at hand; TrainingPodRole grants what a "
        "job needs"
    ),
    source="EKS best practices guide, identity and access management; Service Authorization Reference",
    check=check,
)
