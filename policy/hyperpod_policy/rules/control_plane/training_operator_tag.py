"""The training operator may look at the nodes of its cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_model.catalog.iam import OPERATOR_CLUSTER_TAG, TRAINING_OPERATOR_MANAGED_POLICY
from hyperpod_policy.add_ons import ADD_ON, TRAINING_OPERATOR
from hyperpod_policy.eks_clusters import orchestrations
from hyperpod_policy.identities import permissions
from hyperpod_policy.pod_roles import pod_roles
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, elements, scalar_text

_ALLOWED = f"the tag {OPERATOR_CLUSTER_TAG[0]}={OPERATOR_CLUSTER_TAG[1]}"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the tags of each cluster, if the template has the training operator."""
    if not _has_operator(template):
        return
    for found in orchestrations(template):
        yield _judge(found.cluster)


def _has_operator(template: Template) -> bool:
    return any(add_on.get("AddonName") == TRAINING_OPERATOR for add_on in template.of_type(ADD_ON)) or any(
        name == TRAINING_OPERATOR_MANAGED_POLICY
        for role in pod_roles(template)
        for name, _, _ in permissions(template, role).aws_managed
    )


def _judge(cluster: Resource) -> Verdict:
    key, value = OPERATOR_CLUSTER_TAG
    tags, complete = elements(cluster.get("Tags"))
    given = [tag.get("Value") for tag in tags if isinstance(tag, Mapping) and tag.get("Key") == key]
    if any(not isinstance(item, Unresolved) and scalar_text(item) == value for item in given):
        return passed(cluster, "Tags")
    if given and isinstance(given[0], Unresolved):
        return undetermined(cluster, "Tags", found=f"{key} is {given[0]}", allowed=_ALLOWED)
    if not complete or any(isinstance(tag, Unresolved) for tag in tags):
        return undetermined(cluster, "Tags", found="is not known", allowed=_ALLOWED)
    found = f"{key} is {given[0]}" if given else f"has no tag {key}"
    return failed(cluster, "Tags", found=found, allowed=_ALLOWED)


RULE = Rule(
    id="TrainingOperatorTag",
    title="the cluster has the tag that the training operator's policy asks for",
    severity="error",
    why=(
        f"{TRAINING_OPERATOR_MANAGED_POLICY} lets the operator describe nodes of clusters with this tag "
        "only. Without it the operator sees no node's health and restarts jobs onto broken ones."
    ),
    fix=f"tag the HyperPod cluster {OPERATOR_CLUSTER_TAG[0]}={OPERATOR_CLUSTER_TAG[1]}",
    source=f"AWS Managed Policy Reference, {TRAINING_OPERATOR_MANAGED_POLICY}",
    check=check,
)
