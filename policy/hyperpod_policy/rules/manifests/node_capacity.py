"""What a pod asks for fits on its node, with what the system keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain

from hyperpod_model.catalog.instances import InstanceType
from hyperpod_model.catalog.labels import EFA_RESOURCE
from hyperpod_model.catalog.limits import TIERED_MEMORY_PERCENTAGE
from hyperpod_model.catalog.pod_resources import own_threads_per_core, pod_memory_gib, pod_vcpu
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.features import tiered_at
from hyperpod_policy.manifests.placing import candidates, efa_interfaces
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import GIB, mapping, quantity
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge what each training job's pods ask for against the node of the type that they select."""
    for job in training_jobs(manifests):
        for pod, container in job.trainers():
            chosen = candidates(pod, container)
            found = [list(_faults(job, pod, container, each)) for each in chosen.types]
            if not chosen.is_chosen:
                # Where pods may land on several types, only what fits on none of them is a fault.
                found = found[:1] if all(found) else []
            if found:
                path = (*container.path, "resources")
                yield from judged(job.manifest, path, chain.from_iterable(found))


def _faults(
    job: TrainingJob, pod: Pod, container: Container, found: InstanceType
) -> Iterator[ManifestVerdict]:
    least = TIERED_MEMORY_PERCENTAGE.value[0] if tiered_at(job) is not None else 0
    memory, vcpu = _requested(pod, "memory"), _requested(pod, "cpu")
    path = (*container.path, "resources", "requests")
    left = pod_memory_gib(found, tiered_percentage=least)
    if memory > left * GIB:
        beside = f" beside the {least} % or more of tiered checkpoints" if least else ""
        yield failed(
            job.manifest,
            *path,
            "memory",
            found=f"{float(memory / GIB):.0f} GiB of memory on {found.name} of {found.memory_gib:g} GiB",
            allowed=f"{left} GiB at most, which the system leaves{beside}",
        )
    most = pod_vcpu(found, threads_per_core=own_threads_per_core(found))
    single = pod_vcpu(found, threads_per_core=1)
    if vcpu > most:
        yield failed(
            job.manifest,
            *path,
            "cpu",
            found=f"{float(vcpu):g} CPUs on {found.name} of {found.vcpu}",
            allowed=f"{most} at most, which the system leaves",
        )
    elif vcpu > single:
        yield undetermined(
            job.manifest,
            *path,
            "cpu",
            found=f"{float(vcpu):g} CPUs on {found.name}, which fit only with two threads a core",
            allowed=f"{single} where the instance group has ThreadsPerCore 1, else {most}",
            fix=f"ask for {single} CPUs at most, or check the job against its cluster",
        )
    for resource, has in _devices(found):
        alone, together = _amount(container, resource), _requested(pod, resource)
        if alone <= has < together:  # what the one container asks for is for other rules to judge
            yield failed(
                job.manifest,
                *pod.at("containers"),
                found=f"{together} of {resource} in all containers together on {found.name}",
                allowed=f"{has} at most",
                fix="let the container that trains alone ask for devices",
            )


def _requested(pod: Pod, resource: str) -> Fraction:
    """Return what a pod is promised, as the scheduler counts; unreadable amounts count as none.

    These are its containers together, with the init containers that stay beside them; or more, where one
    that runs before them asks for more.
    """
    staying, largest = Fraction(0), Fraction(0)
    for container in pod.containers(init=True):
        amount = _amount(container, resource)
        if "containers" in container.path or container.body.get("restartPolicy") == "Always":
            staying += amount
        else:
            largest = max(largest, staying + amount)
    return max(staying, largest)


def _amount(container: Container, resource: str) -> Fraction:
    resources = mapping(container.body.get("resources"))
    limits, requests = mapping(resources.get("limits")), mapping(resources.get("requests"))
    amount = quantity(requests.get(resource, limits.get(resource)))
    return Fraction(0) if amount is None else amount


def _devices(instance_type: InstanceType) -> Iterator[tuple[str, int]]:
    accelerator = instance_type.accelerator
    if accelerator is not None:
        yield accelerator.kubernetes_resource, accelerator.count
    yield EFA_RESOURCE, efa_interfaces(instance_type)


RULE = ManifestRule(
    id="NodeCapacity",
    title="what a pod asks for fits on its node, beside what the system keeps",
    severity="error",
    why=(
        "Kubelet, system and the memory tier keep a part of each node. A pod that asks for the whole memory "
        "of the type, as data sheets state it, fits on no node and waits without an end."
    ),
    fix="ask for what is left to pods on that type",
    source=(
        "PyPI sagemaker-hyperpod 3.12.0, quota_allocation_util.py; Kubernetes docs, reserve compute resources"
    ),
    check=check,
)
