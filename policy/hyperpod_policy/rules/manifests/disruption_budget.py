"""A disruption budget lets a faulty node be replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import integer, shown
from hyperpod_policy.manifests.selectors import selects_pods
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed

_KIND = "PodDisruptionBudget"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge each disruption budget for pods of a training job."""
    jobs = list(training_jobs(manifests))
    for manifest in manifests:
        if manifest.kind != _KIND:
            continue
        for job in jobs:
            if _selects(manifest, job):
                yield _judge(manifest, job)


def _judge(manifest: Manifest, job: TrainingJob) -> ManifestVerdict:
    most = manifest.get("spec", "maxUnavailable")
    least = manifest.get("spec", "minAvailable")
    pods = job.pod_count
    count = integer(least)
    if str(most) in ("0", "0%"):
        path, found = "maxUnavailable", f"maxUnavailable {shown(most)}"
    elif str(least) == "100%" or (count is not None and pods is not None and count >= pods):
        path, found = "minAvailable", f"minAvailable {shown(least)} of {pods} pods"
    else:
        return passed(manifest, "spec")
    return failed(
        manifest,
        "spec",
        path,
        found=f"{found}: no pod of {job.manifest} may be evicted",
        allowed="a budget that leaves one pod at least",
    )


def _selects(budget: Manifest, job: TrainingJob) -> bool:
    selector = budget.get("spec", "selector")
    namespaces = {budget.namespace, job.manifest.namespace} - {None}
    return bool(selector) and len(namespaces) < 2 and selects_pods(selector, job)


RULE = ManifestRule(
    id="DisruptionBudget",
    title="a disruption budget lets a faulty node be drained",
    severity="warning",
    why=(
        "A node is drained before it is updated or replaced on request. A budget that allows no eviction at "
        "all blocks that until the job ends, while the job trains on a node that is to go."
    ),
    fix="allow one unavailable pod: a job that resumes loses the work since its last checkpoint",
    source="Kubernetes docs, disruptions; AWS docs, software updates of HyperPod clusters",
    check=check,
)
