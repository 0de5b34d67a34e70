"""A job's pods name the instance type that they are made for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.catalog.labels import INSTANCE_TYPE
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.placing import candidates
from hyperpod_policy.manifests.pods import INSTANCE_TYPE_KEYS, Pod
from hyperpod_policy.manifests.reading import is_deferred, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, hint, judged, undetermined

_PREFIX = "ml."


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the selector of each training job's pods."""
    for job in training_jobs(manifests):
        for pod in job.pods():
            yield from judged(job.manifest, pod.at("nodeSelector"), _faults(job, pod))


def _faults(job: TrainingJob, pod: Pod) -> Iterator[ManifestVerdict]:
    found = pod.selection(*INSTANCE_TYPE_KEYS)
    if found is None:
        yield from _without(job, pod)
        return
    for value in found.values:
        if value in instance_types():
            continue
        allowed = "an instance type of HyperPod, with the prefix ml."
        if is_deferred(value):
            yield undetermined(job.manifest, *found.path, found=f"type {shown(value)}", allowed=allowed)
        elif f"{_PREFIX}{value}" in instance_types():
            yield failed(
                job.manifest,
                *found.path,
                found=f"{shown(value)} without the prefix {_PREFIX}",
                allowed=f"{_PREFIX}{value}",
            )
        else:
            yield failed(
                job.manifest,
                *found.path,
                found=f"{shown(value)}, which is no instance type of HyperPod{hint(value, instance_types())}",
                allowed=allowed,
            )


def _without(job: TrainingJob, pod: Pod) -> Iterator[ManifestVerdict]:
    container = job.trainer_of(pod)
    if container is None or not container.accelerators():
        return
    able = candidates(pod, container)
    yield failed(
        job.manifest,
        *able.path,
        found=(
            f"no instance type is asked for, and pods may land on {able.names}"
            if able.types
            else "no instance type is asked for, and none in the catalog has what the pod asks for"
        ),
        allowed=f"{INSTANCE_TYPE.key} in nodeSelector",
        severity="warning",
    )


RULE = ManifestRule(
    id="InstanceTypeSelector",
    title="a job's pods name the instance type that they are made for, as nodes of HyperPod have it",
    severity="error",
    why=(
        "Counts of GPUs and EFA interfaces are right for one type only. Without a selector pods land "
        "wherever they fit, or mix types. With the name that EC2 uses they match no node of HyperPod and "
        "wait forever."
    ),
    fix="select node.kubernetes.io/instance-type, with a value such as ml.p5.48xlarge",
    source="PyPI sagemaker-hyperpod 3.12.0; AWS docs sagemaker-eks-operator-usage",
    check=check,
)
