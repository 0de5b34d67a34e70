"""Instance groups that an update takes away."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.clusters import groups
from hyperpod_policy.rule import Verdict, failed, passed, undetermined
from hyperpod_policy.update import Update, UpdateRule
from hyperpod_policy.values import Unresolved, elements, single

_ALLOWED = "every group that has work"


def check(update: Update) -> Iterator[Verdict]:
    """Judge the groups of each cluster that stays."""
    for pair in update.clusters():
        if pair.new is None:
            continue
        kept = {groups.old.path for groups in update.group_pairs(pair)}
        gone = [group for group in groups(pair.old) if group.path not in kept]
        unclear = any(
            not elements(pair.new.get(member))[1] for member in ("InstanceGroups", "RestrictedInstanceGroups")
        ) or any(
            isinstance(single(group.properties.get("InstanceGroupName")), Unresolved)
            for group in groups(pair.new)
        )
        for group in gone:
            answer = undetermined if unclear else failed
            count = group.properties.get("InstanceCount")
            nodes = "its nodes go" if count is None else f"its nodes, up to {count}, go"
            yield answer(
                pair.new,
                group.path[0],
                found=f"group '{group.name}' is gone: {nodes} with their volumes",
                allowed=_ALLOWED,
            )
        if not gone:
            yield passed(pair.new)


RULE = UpdateRule(
    id="RemovedGroups",
    title="an update removes no group that has work",
    severity="warning",
    why=(
        "A group that leaves the template is deleted with its nodes at once, whatever runs there; a new name "
        "for a group is a removal and an addition. On Slurm the jobs of its partition have nowhere to go."
    ),
    fix=(
        "drain the group, scale it to 0 in one update and remove it in the next; give a new group its name "
        "while the old one is still there"
    ),
    source="SageMaker API reference, UpdateCluster (InstanceGroupsToDelete)",
    check=check,
)
