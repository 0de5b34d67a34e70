"""Pods of a distributed job ask for every EFA interface of their node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain

from hyperpod_model.catalog.instances import InstanceType
from hyperpod_model.catalog.labels import EFA_RESOURCE
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.placing import candidates, efa_interfaces
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, passed, undetermined


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the EFA interfaces that each training job's pods ask for."""
    for job in training_jobs(manifests):
        for pod, container in job.trainers():
            asked = container.amount(EFA_RESOURCE)
            if asked is None or not (container.accelerators() or EFA_RESOURCE in container.resources()):
                continue
            chosen = candidates(pod, container)
            faults = [list(_on_type(job, container, found, asked)) for found in chosen.types]
            path = (*container.path, "resources")
            if chosen.is_chosen and chosen.types:
                yield from judged(job.manifest, path, chain.from_iterable(faults))
            elif chosen.types and not any(faults):
                yield passed(job.manifest, *path)
            elif job.is_distributed:
                yield undetermined(
                    job.manifest,
                    *path,
                    "limits",
                    EFA_RESOURCE,
                    found=f"{asked if asked else 'no'} {EFA_RESOURCE} for a node of an unknown type",
                    allowed="every EFA interface of the type, where it has some",
                    fix="select the instance type and ask for all of its interfaces",
                )


def _on_type(
    job: TrainingJob, container: Container, instance_type: InstanceType, asked: Fraction
) -> Iterator[ManifestVerdict]:
    path = (*container.path, "resources", "limits", EFA_RESOURCE)
    has = efa_interfaces(instance_type)
    name = instance_type.name
    if asked > has:
        yield failed(
            job.manifest,
            *path,
            found=f"{asked} EFA interfaces on {name}, which has {has if has else 'none'}",
            allowed=f"{has} at most" if has else "none",
            fix="ask for as many as the type has: a pod that asks for more fits on no node",
        )
        return
    wanted = _fair_share(container, instance_type, has)
    if asked < wanted and job.is_distributed:
        yield failed(
            job.manifest,
            *path,
            found=f"{asked} of the {has} EFA interfaces of {name}"
            if asked
            else f"none of the {has} EFA interfaces of {name}, so that NCCL falls back to TCP without a word",
            allowed=f"{EFA_RESOURCE}: {wanted}",
        )


def _fair_share(container: Container, instance_type: InstanceType, has: int) -> int:
    """Return the interfaces that belong to the accelerators of a pod, rounded down."""
    accelerator = instance_type.accelerator
    if accelerator is None:
        return 0
    devices = container.accelerators().get(accelerator.kubernetes_resource)
    return 0 if devices is None else int(has * devices / accelerator.count)


RULE = ManifestRule(
    id="EfaRequests",
    title="pods of a distributed job ask for every EFA interface of their node",
    severity="error",
    why=(
        "NCCL uses the interfaces that the pod was given. Without any it runs on TCP at a fraction of the "
        "speed and logs one line about it; with one in place of 32 it gets a thirty-second of the "
        "bandwidth."
    ),
    fix="set vpc.amazonaws.com/efa in requests and limits to the count of the instance type",
    source=(
        "PyPI sagemaker-hyperpod 3.12.0, INSTANCE_RESOURCES; EC2 User Guide, EFA accelerated instance types"
    ),
    check=check,
)
