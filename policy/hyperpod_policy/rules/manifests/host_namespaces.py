"""Training pods share no namespace with the node, unless what they use needs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.features import checkpointless_at
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged

_NAMESPACES = {
    "hostNetwork": "its network, and with it the instance metadata and the node's role",
    "hostIPC": "its shared memory with that of every other such pod",
    "hostPID": "its processes",
}
_NEEDED_WITHOUT_CHECKPOINTS = "hostNetwork"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge what each training job's pods share with their node."""
    for job in training_jobs(manifests):
        recovers = checkpointless_at(job) is not None
        for pod in job.pods():
            yield from judged(
                job.manifest,
                pod.at(),
                (
                    failed(
                        job.manifest,
                        *pod.at(name),
                        found=f"{name}: the pod shares {what}",
                        allowed=f"no {name}",
                    )
                    for name, what in _NAMESPACES.items()
                    if pod.flag(name) and not (recovers and name == _NEEDED_WITHOUT_CHECKPOINTS)
                ),
            )


RULE = ManifestRule(
    id="HostNamespaces",
    title="training pods share no namespace with the node unless checkpointless training needs it",
    severity="warning",
    why=(
        "EFA and NCCL work in a pod's own network and shared memory. In the host's network two jobs on a "
        "node fight for ports, network policies do not hold, and pods get credentials of the node from its "
        "metadata."
    ),
    fix="remove hostNetwork, hostIPC and hostPID, and mount shared memory of the pod's own",
    source=(
        "AWS docs sagemaker-hyperpod-eks-prerequisites: only pods in the host's network reach the metadata; "
        "Kubernetes docs, pod security standards"
    ),
    check=check,
)
