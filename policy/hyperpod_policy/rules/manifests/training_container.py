"""A Kubeflow job's training container has the name by which the operator finds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import listed
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, hint, passed


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the names of containers in each Kubeflow job."""
    for job in training_jobs(manifests):
        wanted = job.operator.container_name
        for pod in job.pods() if job.is_kubeflow else ():
            names = [container.name for container in pod.containers()]
            if wanted in names:
                yield passed(job.manifest, *pod.at("containers"))
            elif names:
                near = "".join(hint(name, [wanted]) for name in names[:1])
                yield failed(
                    job.manifest,
                    *pod.at("containers", 0, "name"),
                    found=f"containers {listed(names)}{near}",
                    allowed=f"one named {wanted}",
                )
            else:
                yield failed(
                    job.manifest, *pod.at("containers"), found="no container", allowed=f"one named {wanted}"
                )


RULE = ManifestRule(
    id="TrainingContainer",
    title="a PyTorchJob has a container named pytorch",
    severity="error",
    why=(
        "The operator finds port, address and exit code of a job through the container of that name. "
        "Without it pods get no rendezvous, and the job fails with an error in the operator's log only."
    ),
    fix="name the container that trains pytorch",
    source=(
        "kubeflow/training-operator v1.8.1, pkg/apis/kubeflow.org/v1 and pkg/controller.v1/pytorch/envvar.go"
    ),
    check=check,
)
