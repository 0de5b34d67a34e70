"""Pods do not tolerate the taint of faulty nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.catalog.labels import UNSCHEDULABLE_TAINT
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import items
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged

_TAINT = UNSCHEDULABLE_TAINT


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the tolerations of each training job's pods."""
    for job in training_jobs(manifests):
        for pod in job.pods():
            path = pod.at("tolerations")
            yield from judged(
                job.manifest,
                path,
                (
                    failed(
                        job.manifest,
                        *path,
                        position,
                        found=(
                            f"the taint {_TAINT.key} is tolerated"
                            if toleration.get("key")
                            else "every taint is tolerated, that of faulty nodes included"
                        ),
                        allowed=f"tolerations by key, none of {_TAINT.key}",
                    )
                    for position, toleration in items(pod.spec.get("tolerations"))
                    if _tolerates(toleration)
                ),
            )


def _tolerates(toleration: Mapping[str, Any]) -> bool:
    key, operator = toleration.get("key"), toleration.get("operator", "Equal")
    if toleration.get("effect") not in (None, "", _TAINT.effect):
        return False
    if not key:
        return bool(operator == "Exists")
    return bool(key == _TAINT.key and (operator == "Exists" or toleration.get("value") == _TAINT.value))


RULE = ManifestRule(
    id="FaultyNodeToleration",
    title="pods do not tolerate the taint of faulty nodes",
    severity="error",
    why=(
        "HyperPod taints a node with a fault, and one whose deep health checks still run. A pod that "
        "tolerates it lands there, stalls the whole job, and is started there again after each failure."
    ),
    fix="tolerate the taints that are meant by their keys, such as that of accelerators",
    source="AWS docs sagemaker-hyperpod-eks-resiliency-node-labels",
    check=check,
)
