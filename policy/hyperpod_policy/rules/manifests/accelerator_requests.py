"""Pods ask for accelerators that their instance type has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.instances import InstanceType
from hyperpod_model.catalog.labels import NEURON_NAMES, NEURON_RESOURCE
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.placing import candidates
from hyperpod_policy.manifests.reading import listed
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged

_PARTITION = "nvidia.com/"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the accelerators that each training job's pods ask for."""
    for job in training_jobs(manifests):
        for pod, container in job.trainers():
            chosen = candidates(pod, container)
            if chosen.is_chosen and chosen.types:
                path = (*container.path, "resources")
                yield from judged(job.manifest, path, _faults(job, container, chosen.types))


def _faults(
    job: TrainingJob, container: Container, types: Sequence[InstanceType]
) -> Iterator[ManifestVerdict]:
    path = (*container.path, "resources", "limits")
    asked = container.accelerators()
    for found in types:
        accelerator = found.accelerator
        if accelerator is None:
            if asked:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"{listed(list(asked))} on {found.name}, which has none",
                    allowed="an accelerated instance type",
                )
            continue
        if not asked and not _asks_for_cores(container, accelerator.kubernetes_resource):
            yield failed(
                job.manifest,
                *path,
                found=f"no accelerator on {found.name}, which has {accelerator.count} {accelerator.model}",
                allowed=f"{accelerator.kubernetes_resource}: {accelerator.count}",
                severity="warning",
            )
        for name, amount in asked.items():
            known = {accelerator.kubernetes_resource, *_partitions(found)}
            if name not in known:
                yield failed(
                    job.manifest,
                    *path,
                    name,
                    found=f"{name} on {found.name}",
                    allowed=listed(sorted(known)),
                )
            elif (
                amount is not None and name == accelerator.kubernetes_resource and amount > accelerator.count
            ):
                yield failed(
                    job.manifest,
                    *path,
                    name,
                    found=f"{amount} of {name} on {found.name}",
                    allowed=f"{accelerator.count} at most",
                )


def _asks_for_cores(container: Container, resource: str) -> bool:
    """Whether it asks for single cores of Neuron devices."""
    return resource == NEURON_RESOURCE and NEURON_NAMES["core"] in container.resources()


def _partitions(instance_type: InstanceType) -> set[str]:
    return {f"{_PARTITION}{profile}" for profile in instance_type.mig_profiles}


RULE = ManifestRule(
    id="AcceleratorRequests",
    title="pods ask for accelerators that their instance type has",
    severity="error",
    why=(
        "A pod that asks for more, or for the other kind, fits on no node and waits without an end. One "
        "that asks for none sees no device."
    ),
    fix="ask for the resource and the count of the instance type",
    source="EC2 instance types, accelerators; botocore sagemaker, ClusterInstanceType",
    check=check,
)
