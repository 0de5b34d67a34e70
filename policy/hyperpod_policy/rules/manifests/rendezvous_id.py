"""An elastic job's rendezvous has an id of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import shown
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed

_VARIABLE = "PET_RDZV_ID"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the rendezvous id of each Kubeflow job with an elastic policy."""
    for job in training_jobs(manifests):
        policy = job.elastic_policy
        if not job.is_kubeflow or policy is None:
            continue
        written = policy.get("rdzvId")
        said = any(
            "rdzv_id" in launch.options or container.variable(_VARIABLE)
            for _, container, launch in job.launches()
        )
        if said or (isinstance(written, str) and written.strip()):
            yield passed(job.manifest, "spec", "elasticPolicy", "rdzvId")
        else:
            yield failed(
                job.manifest,
                "spec",
                "elasticPolicy",
                "rdzvId",
                found="no rdzvId" if written is None else f"rdzvId {shown(written)}",
                allowed="a name of this job's own, such as its name",
            )


RULE = ManifestRule(
    id="RendezvousId",
    title="an elastic job's rendezvous has an id of its own",
    severity="warning",
    why=(
        "Without one torchrun takes the id none for every job. Pods of a former run that still end, or of "
        "another job that reaches the endpoint, are then let into this rendezvous."
    ),
    fix="set elasticPolicy.rdzvId to the job's name",
    source="PyTorch, torchrun --rdzv-id; kubeflow/training-operator v1.8.1, elastic.go",
    check=check,
)
