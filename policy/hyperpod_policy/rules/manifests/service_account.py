"""Pods that use S3 have a service account of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.features import bucket_at, tiered_at
from hyperpod_policy.manifests.reading import is_deferred
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_ANYBODYS = "default"
_MEMBERS = ("serviceAccountName", "serviceAccount")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the service account of each training job that uses a bucket."""
    for job in training_jobs(manifests):
        at = bucket_at(job)
        if (tiered_at(job) if at is None else at) is None:
            continue
        what = "writes to the memory tier" if at is None else "names a bucket"
        for pod in job.pods():
            name = next((pod.spec[member] for member in _MEMBERS if pod.spec.get(member)), None)
            path = pod.at(_MEMBERS[0])
            allowed = "a service account of the training pods' own, with a role for that bucket"
            if is_deferred(name):
                yield undetermined(job.manifest, *path, found=f"service account {name}", allowed=allowed)
            elif name is None or name == _ANYBODYS:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"service account {_ANYBODYS} in a job that {what}",
                    allowed=allowed,
                )
            else:
                yield passed(job.manifest, *path)


RULE = ManifestRule(
    id="JobServiceAccount",
    title="pods that use S3 have a service account of their own",
    severity="error",
    why=(
        "A role comes to pods by their service account. The default one has none, so that the first save "
        "fails; and if it is given one, every pod of the namespace can write checkpoints, which run as code "
        "on the training nodes."
    ),
    fix="make a service account with a Pod Identity association or an IRSA role, and name it in the pods",
    source="AWS docs EKS Pod Identity; AWS docs managed-tier-checkpointing-setup, security considerations",
    check=check,
)
