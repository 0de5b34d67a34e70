"""Pods go to nodes that are healthy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.labels import NODE_HEALTH_STATUS
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import is_deferred, listed, shown
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_KEY = NODE_HEALTH_STATUS.key
_HEALTHY = "Schedulable"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the selector of each training job's pods."""
    for job in training_jobs(manifests):
        for pod in job.pods():
            node = pod.spec.get("nodeName")
            if node is not None:
                yield failed(
                    job.manifest,
                    *pod.at("nodeName"),
                    found=f"nodeName {shown(node)}: no scheduler looks at the node's health",
                    allowed="no nodeName",
                    fix="remove nodeName, and select nodes by their labels",
                )
            found = pod.selection(_KEY)
            allowed = f"{_KEY}: {_HEALTHY}"
            if found is None:
                yield failed(
                    job.manifest,
                    *pod.at("nodeSelector"),
                    found="no selector for healthy nodes",
                    allowed=allowed,
                    severity="warning",
                )
            elif set(map(str, found.values)) == {_HEALTHY}:
                yield passed(job.manifest, *found.path)
            elif any(map(is_deferred, found.values)):
                yield undetermined(
                    job.manifest, *found.path, found=f"{_KEY}: {listed(found.values)}", allowed=allowed
                )
            else:
                yield failed(
                    job.manifest, *found.path, found=f"{_KEY}: {listed(found.values)}", allowed=allowed
                )


RULE = ManifestRule(
    id="NodeHealthSelector",
    title="pods go to nodes that are healthy",
    severity="error",
    why=(
        "Between a fault and the replacement of its node the label says so first. Auto-resume counts on the "
        "selector: without it pods are placed on a node that is about to go, and with another value on "
        "faulty nodes or on none."
    ),
    fix="select sagemaker.amazonaws.com/node-health-status: Schedulable",
    source="AWS docs sagemaker-hyperpod-eks-resiliency-node-labels",
    check=check,
)
