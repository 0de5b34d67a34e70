"""Spare pods have a queue that grants them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.jobs import QUEUE_LABEL
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import integer, is_deferred, shown
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the spares of each HyperPod job that has some."""
    for job in training_jobs(manifests):
        for replicas in () if job.is_kubeflow else job.replicas:
            written = replicas.body.get("spares")
            count = integer(written)
            path = (*replicas.path, "spares")
            if written is None or count == 0:
                continue
            if is_deferred(written):
                yield undetermined(
                    job.manifest, *path, found=f"spares {written}", allowed=f"0, or the label {QUEUE_LABEL}"
                )
            elif count is None or count < 0:
                yield failed(job.manifest, *path, found=f"spares {shown(written)}", allowed="0 or more")
            elif QUEUE_LABEL in job.labels:
                yield passed(job.manifest, *path)
            else:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"{count} spares in a job without queue",
                    allowed=f"the label {QUEUE_LABEL}",
                )


RULE = ManifestRule(
    id="Spares",
    title="spare pods have a queue that grants them",
    severity="error",
    why=(
        "Spares are asked of Kueue, which holds the nodes for them. A job without queue gets none, and "
        "waits for a replacement at the first fault, as if there were no spares."
    ),
    fix="give the job the queue label of its team, or remove spares",
    source="PyPI hyperpod-pytorch-job-template 1.5.0; AWS docs sagemaker-eks-operator-usage",
    check=check,
)
