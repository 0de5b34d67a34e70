"""EKS goes up by one version of Kubernetes at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from hyperpod_model.catalog.updates import KUBERNETES_MINOR_STEPS
from hyperpod_policy.eks_clusters import EKS_CLUSTER
from hyperpod_policy.rule import Verdict, failed, passed, undetermined
from hyperpod_policy.update import Update, UpdateRule
from hyperpod_policy.values import scalar_text

_MEMBER: Final = "Version"
_VERSION: Final = re.compile(r"1\.(\d+)")


def check(update: Update) -> Iterator[Verdict]:
    """Judge the version of each EKS cluster that stays."""
    for old in update.baseline.of_type(EKS_CLUSTER):
        new = update.counterpart(old)
        if new is None or update.changed(old, new, (_MEMBER,)) is False:
            continue
        before, after = _minor(old.get(_MEMBER)), _minor(new.get(_MEMBER))
        found = f"changes from {old.get(_MEMBER)} to {new.get(_MEMBER)}"
        steps = KUBERNETES_MINOR_STEPS.value
        allowed = f"the same version, or {steps} minor version more"
        if before is None or after is None:
            yield undetermined(new, _MEMBER, found=found, allowed=allowed)
        elif before <= after <= before + steps:
            yield passed(new, _MEMBER)
        else:
            yield failed(new, _MEMBER, found=found, allowed=allowed)


def _minor(version: Any) -> int | None:
    text = scalar_text(version)
    match = _VERSION.fullmatch(text) if isinstance(text, str) else None
    return None if match is None else int(match[1])


RULE = UpdateRule(
    id="KubernetesVersion",
    title="EKS goes up by one version of Kubernetes at a time, and never back",
    severity="error",
    why=(
        "EKS refuses a step over a version, and any step back: the update fails and rolls back. Add-ons and "
        "nodes have to follow each step before the next."
    ),
    fix="deploy each version in between, with its add-ons and a software update of the nodes",
    source="EKS user guide, update-cluster",
    check=check,
)
