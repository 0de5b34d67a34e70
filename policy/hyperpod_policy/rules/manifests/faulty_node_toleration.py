"""Pods do not tolerate the taint of faulty nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.catalog.labels import UNSCHEDULABLE_TAINT
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import items, listed
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged

_TAINT = UNSCHEDULABLE_TAINT
_CORDONED = ("node.kubernetes.io/unschedulable",)
_GONE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_EVICTS = "NoExecute"


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
                        found=found,
                        allowed=f"tolerations by key, none of {listed([_TAINT.key, *_CORDONED, *_GONE])}",
                        severity=None if is_new_pod else "warning",
                    )
                    for position, toleration in items(pod.spec.get("tolerations"))
                    for found, is_new_pod in _faults(toleration)
                ),
            )


def _faults(toleration: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield what is wrong, and whether it is about pods that start, and not about such as run."""
    key, operator = toleration.get("key"), toleration.get("operator", "Equal")
    effect = toleration.get("effect")
    if _tolerates(toleration):
        yield (
            f"the taint {key} is tolerated"
            if key
            else "every taint is tolerated, that of faulty nodes included",
            True,
        )
    elif key in _CORDONED and effect in (None, "", _TAINT.effect):
        yield f"the taint {key} is tolerated, which a cordoned node has", True
    elif (
        (key in _GONE or (not key and operator == "Exists"))
        and effect in (None, "", _EVICTS)
        and toleration.get("tolerationSeconds") is None
    ):
        what = f"the taint {key}" if key else f"every taint of effect {_EVICTS}"
        yield f"{what} is tolerated without an end: pods stay bound to a node that is gone", False


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
        "tolerates it lands there, stalls the whole job, and is started there again after each failure. "
        "Kubernetes taints cordoned and unreachable nodes as well."
    ),
    fix="tolerate the taints that are meant by their keys, such as that of accelerators",
    source=(
        "AWS docs sagemaker-hyperpod-eks-resiliency-node-labels; Kubernetes docs, taints and tolerations: "
        "taint-based evictions"
    ),
    check=check,
)
