"""A pod starts one process for each accelerator that it asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hyperpod_model.catalog.labels import GPU_RESOURCE, NEURON_RESOURCE
from hyperpod_model.catalog.manifest_vocabulary import PROCESS_COUNTS
from hyperpod_model.catalog.pod_resources import processes_per_device
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.launching import Launch
from hyperpod_policy.manifests.placing import candidates
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import integer, is_deferred, listed, mapping, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the number of processes of each pod."""
    for job in training_jobs(manifests):
        for pod, container, launch in job.launches():
            yield from _judge(job, pod, container, launch)


def _judge(job: TrainingJob, pod: Pod, container: Container, launch: Launch) -> Iterator[ManifestVerdict]:
    path, written = _said(job, container, launch)
    if written is None or written in PROCESS_COUNTS:
        return
    wanted = _wanted(pod, container)
    if is_deferred(written) or (isinstance(written, str) and "$" in written):
        yield undetermined(job.manifest, *path, found=f"{written} processes", allowed=_allowed(wanted))
        return
    count = integer(written)
    if count is None or count < 1:
        yield failed(job.manifest, *path, found=f"{shown(written)} processes", allowed=_allowed(wanted))
    elif wanted is None or count == wanted:
        yield passed(job.manifest, *path)
    else:
        yield failed(
            job.manifest,
            *path,
            found=f"{count} processes a pod for {wanted} GPUs or Neuron cores",
            allowed=_allowed(wanted),
            severity="error" if count > wanted else "warning",
        )


def _said(job: TrainingJob, container: Container, launch: Launch) -> tuple[FaultPath, Any]:
    if "nproc_per_node" in launch.options:
        return (*container.path, "command"), launch.options["nproc_per_node"]
    policy = mapping(job.elastic_policy)
    if job.is_kubeflow and "nProcPerNode" in policy:
        return ("spec", "elasticPolicy", "nProcPerNode"), policy["nProcPerNode"]
    return ("spec", "nprocPerNode"), job.spec.get("nprocPerNode")


def _wanted(pod: Pod, container: Container) -> int | None:
    """Return how many processes keep all accelerators busy; ``None`` where the type is needed to tell."""
    asked = container.accelerators()
    if len(asked) != 1:
        return None
    (name, amount), *_ = asked.items()
    if amount is None or amount.denominator != 1:
        return None
    if name == GPU_RESOURCE:
        return int(amount)
    if name != NEURON_RESOURCE:
        return None
    answers = {processes_per_device(found) for found in candidates(pod, container).types}
    return int(amount) * answers.pop() if len(answers) == 1 else None


def _allowed(wanted: int | None) -> str:
    return f"{listed(PROCESS_COUNTS)} or {'a whole number, 1 or more' if wanted is None else wanted}"


RULE = ManifestRule(
    id="ProcessCount",
    title="a pod starts one process for each accelerator that it asks for",
    severity="error",
    why=(
        "More processes than devices fail at start with an invalid device, or share one and run out of its "
        "memory. Fewer leave accelerators idle that the job holds and pays for."
    ),
    fix="set nprocPerNode to the number of accelerators (Trainium: of logical cores), or to auto",
    source="PyTorch, torchrun --nproc-per-node; AWS Neuron docs, one process for each logical core",
    check=check,
)
