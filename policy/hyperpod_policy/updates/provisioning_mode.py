"""A cluster keeps its way of provisioning nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hyperpod_model.catalog.behaviours import PROVISIONING_MODE_WHEN_ABSENT
from hyperpod_model.catalog.updates import PROVISIONING_MODE, SLURM_PROVISIONING_MODE
from hyperpod_policy.clusters import groups, orchestrator
from hyperpod_policy.rule import Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource
from hyperpod_policy.update import Update, UpdateRule

_MEMBER: Final = "NodeProvisioningMode"
_CONTINUOUS: Final = "Continuous"


def check(update: Update) -> Iterator[Verdict]:
    """Judge the provisioning mode of each cluster that stays."""
    for pair in update.clusters():
        if pair.new is None:
            continue
        changed = update.changed(pair.old, pair.new, (_MEMBER,))
        if changed is False:
            yield passed(pair.new, _MEMBER)
            continue
        old, new = pair.old.get(_MEMBER), pair.new.get(_MEMBER)
        found = f"changes from {_shown(old)} to {_shown(new)}"
        if old is None and new == _CONTINUOUS and _is_classic_slurm(pair.old):
            allowed = f"the mode of the baseline: {SLURM_PROVISIONING_MODE.value}"
            yield failed(pair.new, _MEMBER, found=found, allowed=allowed)
        else:
            doubt = PROVISIONING_MODE.doubt if old is not None else PROVISIONING_MODE_WHEN_ABSENT.doubt
            allowed = f"the mode of the baseline; {doubt}"
            yield undetermined(pair.new, _MEMBER, found=found, allowed=allowed)


def _is_classic_slurm(cluster: Resource) -> bool:
    """Whether something that goes with classic provisioning only tells what the absent mode does not."""
    return orchestrator(cluster) == "slurm" and (
        cluster.get("Orchestrator", "Slurm", "SlurmConfigStrategy") is not None
        or not any("SlurmConfig" in group.properties for group in groups(cluster))
    )


def _shown(mode: Any) -> str:
    return "none" if mode is None else str(mode)


RULE = UpdateRule(
    id="ProvisioningModeChange",
    title="a cluster keeps its way of provisioning nodes",
    severity="error",
    why=(
        "CloudFormation takes the mode for changeable. The service does not migrate a classic Slurm cluster "
        "to continuous provisioning, and the update rolls back."
    ),
    fix="keep the mode; for another make a cluster of another name, move the work, and delete the first",
    source="SageMaker developer guide, sagemaker-hyperpod-scaling-slurm",
    check=check,
)
