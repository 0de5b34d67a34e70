"""Tolerations are ones that the server takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.catalog.manifest_vocabulary import TAINT_EFFECTS, TOLERATION_OPERATORS
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import is_deferred, items, listed, shown
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, hint, judged


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the tolerations of each training job's pods."""
    for job in training_jobs(manifests):
        for pod in job.pods():
            path = pod.at("tolerations")
            yield from judged(
                job.manifest,
                path,
                (
                    failed(job.manifest, *path, position, *member, found=found, allowed=allowed)
                    for position, toleration in items(pod.spec.get("tolerations"))
                    for member, found, allowed in _faults(toleration)
                ),
            )


def _faults(toleration: Mapping[str, Any]) -> Iterator[tuple[FaultPath, str, str]]:
    key, operator = toleration.get("key"), toleration.get("operator", "Equal")
    value, effect = toleration.get("value"), toleration.get("effect")
    if operator not in TOLERATION_OPERATORS and not is_deferred(operator):
        yield (
            ("operator",),
            f"operator {shown(operator)}{hint(operator, TOLERATION_OPERATORS)}",
            listed(TOLERATION_OPERATORS),
        )
    elif operator == "Exists" and value not in (None, ""):
        yield ("value",), f"value {shown(value)} beside operator Exists", "no value, or operator Equal"
    elif operator == "Equal" and not key:
        yield (), "operator Equal without key", "a key, or operator Exists"
    if effect not in (None, "", *TAINT_EFFECTS) and not is_deferred(effect):
        yield ("effect",), f"effect {shown(effect)}{hint(effect, TAINT_EFFECTS)}", listed(TAINT_EFFECTS)
    elif toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield ("tolerationSeconds",), "tolerationSeconds without effect NoExecute", "effect NoExecute"


RULE = ManifestRule(
    id="Tolerations",
    title="tolerations are ones that the server takes",
    severity="error",
    why="A wrong one is refused with the pod, after the job was accepted: it stays without pods.",
    fix="use operator Exists without value, or Equal with one, and an effect that exists",
    source="Kubernetes API reference, Toleration; core validation of pods",
    check=check,
)
