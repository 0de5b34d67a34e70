"""The cluster role while autoscaling uses it."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_policy.rule import Verdict, failed, passed, undetermined
from hyperpod_policy.update import Update, UpdateRule
from hyperpod_policy.values import Unresolved

_ALLOWED = "the same role while autoscaling is enabled"


def check(update: Update) -> Iterator[Verdict]:
    """Judge each cluster whose baseline may autoscale."""
    for pair in update.clusters():
        if pair.new is None:
            continue
        mode = pair.old.get("AutoScaling", "Mode")
        if mode != "Enable" and not isinstance(mode, Unresolved):
            continue
        changed = update.changed(pair.old, pair.new, ("ClusterRole",))
        if changed is False:
            yield passed(pair.new, "ClusterRole")
            continue
        found = f"changes from {pair.old.get('ClusterRole')} to {pair.new.get('ClusterRole')}"
        certain = changed is True and mode == "Enable"
        answer = failed if certain else undetermined
        yield answer(pair.new, "ClusterRole", found=found, allowed=_ALLOWED)


RULE = UpdateRule(
    id="AutoscalingRoleChange",
    title="the cluster role stays while autoscaling is enabled",
    severity="error",
    why="UpdateCluster refuses another ClusterRole while autoscaling is enabled, and the stack rolls back.",
    fix="set AutoScaling.Mode to Disable in one update, change the role in a second, enable it in a third",
    source="SageMaker developer guide, HyperPod autoscaling",
    check=check,
)
