"""Instance groups that an update adds without nodes."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.updates import NEW_GROUP_INSTANCE_COUNT
from hyperpod_policy.clusters import groups
from hyperpod_policy.rule import Verdict, failed, passed
from hyperpod_policy.update import Update, UpdateRule
from hyperpod_policy.values import integer


def check(update: Update) -> Iterator[Verdict]:
    """Judge the groups that join a cluster."""
    least = NEW_GROUP_INSTANCE_COUNT.assuming(because="one node more at the start does no harm")
    for pair in update.clusters():
        if pair.new is None:
            continue
        known = {found.new.path for found in update.group_pairs(pair)}
        for group in groups(pair.new):
            if group.path in known:
                continue
            count = integer(group.properties.get("InstanceCount"))
            if count is not None and count < least:
                yield failed(
                    pair.new,
                    *group.path,
                    "InstanceCount",
                    found=f"adds group '{group.name}' with {count} instances",
                    allowed=f"at least {least} at first; {NEW_GROUP_INSTANCE_COUNT.doubt}",
                )
            else:
                yield passed(pair.new, *group.path)


RULE = UpdateRule(
    id="EmptyNewGroups",
    title="a group that joins a cluster has an instance",
    severity="warning",
    why=(
        "The documentation of UpdateCluster asks for at least one instance of a group that it adds, although "
        "the schema takes none; a refused update rolls the whole stack back."
    ),
    fix="add the group with one instance, and scale it to 0 in the next update",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-operate-cli-command-update-cluster",
    check=check,
)
