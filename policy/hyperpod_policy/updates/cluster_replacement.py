"""A cluster stays the same cluster."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.updates import PHYSICAL_NAMES
from hyperpod_policy.clusters import CLUSTER
from hyperpod_policy.rule import Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource
from hyperpod_policy.update import ClusterPair, Update, UpdateRule, create_only
from hyperpod_policy.values import same

_NAME = PHYSICAL_NAMES[CLUSTER]
_ALLOWED = "the name, VpcConfig and EKS cluster of the baseline"


def check(update: Update) -> Iterator[Verdict]:
    """Judge each cluster of the baseline."""
    for pair in update.clusters():
        if pair.new is None:
            yield failed(
                pair.old,
                found=f"cluster {_shown(pair.old)} is not in the new template, so all its nodes go",
                allowed="the clusters of the baseline",
                fix=(
                    "compare with the template that this stack was deployed from; to delete the cluster, "
                    "delete its stack"
                ),
            )
        elif pair.moved:
            yield failed(
                pair.new,
                found=(
                    f"cluster {_shown(pair.new)} is {pair.old.logical_id} in the baseline: CloudFormation "
                    "creates a second cluster of the same name before it deletes the first"
                ),
                allowed=f"the logical id of the baseline, {pair.old.logical_id}",
                fix="keep the construct path, or override the logical id with the old one",
            )
        else:
            yield from _judge(update, pair, pair.new)


def _judge(update: Update, pair: ClusterPair, new: Resource) -> Iterator[Verdict]:
    keeps_name = _NAME in new.properties and same(pair.old.get(_NAME), new.get(_NAME)) is True
    quiet = True
    for path in create_only(new.type):
        changed = update.changed(pair.old, new, path)
        if changed is False:
            continue
        quiet = False
        what = f"changes {'.'.join(path)}"
        if keeps_name:
            what += (
                f", so CloudFormation creates another cluster, under the name {_shown(new)} that the present "
                "one has until it is deleted afterwards"
            )
        else:
            what += (
                ", so CloudFormation creates another cluster and deletes the present one with all its nodes"
            )
        answer = undetermined if changed is None else failed
        yield answer(new, *path, found=what, allowed=_ALLOWED)
    if quiet:
        yield passed(new)


def _shown(cluster: Resource) -> str:
    name = cluster.get(_NAME)
    return cluster.logical_id if name is None else f"'{name}'"


RULE = UpdateRule(
    id="ClusterReplacement",
    title="an update leaves the cluster in place",
    severity="error",
    why=(
        "CloudFormation cannot change these properties, so it creates another cluster first and deletes the "
        "present one, with every node, last. Under the same name the creation fails; under another, both "
        "want the same capacity."
    ),
    fix=(
        "keep the property; for another network or EKS cluster deploy a second stack with another cluster "
        "name, move the work, then delete the first stack"
    ),
    source="CloudFormation registry, AWS::SageMaker::Cluster (createOnlyProperties)",
    check=check,
)
