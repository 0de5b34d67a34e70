"""A training job's replicas are of types that its operator starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.manifest_vocabulary import KUBEFLOW_REPLICAS
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import is_deferred, listed, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, hint, judged, undetermined

_MASTER = KUBEFLOW_REPLICAS[0]

_MOST_REPLICAS = 2**31 - 1
"""Of the type of this member, int32: the server refuses more."""


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the replicas of each training job."""
    for job in training_jobs(manifests):
        yield from judged(job.manifest, job.replicas_path, _faults(job))


def _faults(job: TrainingJob) -> Iterator[ManifestVerdict]:
    if not job.replicas:
        yield failed(
            job.manifest,
            *job.replicas_path,
            found="no replicas",
            allowed=listed(KUBEFLOW_REPLICAS) if job.is_kubeflow else "one named set of replicas or more",
        )
    names = Counter(replicas.name for replicas in job.replicas)
    for replicas in job.replicas:
        if job.is_kubeflow and replicas.name not in KUBEFLOW_REPLICAS:
            yield failed(
                job.manifest,
                *replicas.path,
                found=f"replica type {replicas.name!r}{hint(replicas.name, KUBEFLOW_REPLICAS)}",
                allowed=listed(KUBEFLOW_REPLICAS),
            )
        if not job.is_kubeflow and (not replicas.name or names[replicas.name] > 1):
            yield failed(
                job.manifest,
                *replicas.path,
                "name",
                found=f"name {replicas.name!r}",
                allowed="a name that no other replicas have, since pods are named after it",
            )
        written = replicas.body.get("replicas", 1)
        count = replicas.count
        if count is None and is_deferred(written):
            yield undetermined(
                job.manifest,
                *replicas.path,
                "replicas",
                found=f"{shown(written)} replicas",
                allowed="1 or more",
            )
        elif count is None or not 1 <= count <= _MOST_REPLICAS or isinstance(written, str):
            yield failed(
                job.manifest,
                *replicas.path,
                "replicas",
                found=f"{shown(written)} replicas",
                allowed="a whole number, 1 or more",
            )
        elif job.is_kubeflow and replicas.name == _MASTER and count != 1:
            yield failed(job.manifest, *replicas.path, "replicas", found=f"{count} masters", allowed="1")


RULE = ManifestRule(
    id="ReplicaTypes",
    title="replicas are of the types that the operator starts",
    severity="error",
    why=(
        "The schema takes any name of replicas. Those of an unknown type get no pods, and the job waits for "
        "them without an error."
    ),
    fix=(
        "name replicas of a PyTorchJob Master and Worker, and give those of a HyperPodPyTorchJob names of "
        "their own"
    ),
    source=(
        "kubeflow/training-operator v1.8.1, pkg/apis/kubeflow.org/v1; PyPI hyperpod-pytorch-job-template "
        "1.5.0"
    ),
    check=check,
)
