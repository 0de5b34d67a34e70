"""A job that recovers from peers has what that needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.jobs import IN_PROCESS_RESTART_FLAG, PORT_RANGE_SYSCTL, ROOTLESS
from hyperpod_model.catalog.ports import CHECKPOINTLESS
from hyperpod_model.catalog.versions import MIN_CHECKPOINTLESS_NODES
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.features import checkpointless_at, kernel_parameters
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import items, listed, mapping
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged

_FLAG = IN_PROCESS_RESTART_FLAG.lstrip("-").replace("-", "_")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge each job that shows signs of checkpointless training."""
    for job in training_jobs(manifests):
        found = checkpointless_at(job)
        if found is not None:
            yield from judged(job.manifest, found, _faults(job))


def _faults(job: TrainingJob) -> Iterator[ManifestVerdict]:
    count = job.pod_count
    if job.is_kubeflow:
        yield failed(
            job.manifest,
            "kind",
            found=f"checkpointless training in a {job.operator.kind}",
            allowed="a HyperPodPyTorchJob, whose agent restarts processes in place",
        )
    if count is not None and count < MIN_CHECKPOINTLESS_NODES:
        yield failed(
            job.manifest,
            *job.replicas_path,
            found=f"{count} pod",
            allowed=f"{MIN_CHECKPOINTLESS_NODES} or more: state comes from a peer on another node",
        )
    for pod, container, launch in job.launches():
        name, value = ROOTLESS.value
        if container.text_of(name) != value and not container.reads_more_variables:
            variable = container.variable(name)
            yield failed(
                job.manifest,
                *container.path,
                "env",
                found=f"no {name}" if variable is None else f"{name}={variable[1]}",
                allowed=f"{name}={value}",
            )
        if launch.launcher is not None and _FLAG not in launch.options:
            yield failed(
                job.manifest,
                *container.path,
                "command",
                found=f"{launch.launcher} without {IN_PROCESS_RESTART_FLAG}",
                allowed=IN_PROCESS_RESTART_FLAG,
                severity="warning",
            )
        yield from _of_pod(job, pod, container)


def _of_pod(job: TrainingJob, pod: Pod, container: Container) -> Iterator[ManifestVerdict]:
    if not pod.flag("hostNetwork"):
        yield failed(
            job.manifest, *pod.at("hostNetwork"), found="a network of its own", allowed="hostNetwork true"
        )
    wanted = {port for part in CHECKPOINTLESS for port in range(part.first, part.last + 1)}
    missing = sorted(wanted - container.ports())
    if missing:
        yield failed(
            job.manifest,
            *container.path,
            "ports",
            found=f"no containerPort {listed(missing)}",
            allowed=listed(CHECKPOINTLESS),
        )
    yield from _of_ports(job, pod)


def _of_ports(job: TrainingJob, pod: Pod) -> Iterator[ManifestVerdict]:
    """Judge the kernel parameter that leaves enough local ports."""
    name, value = PORT_RANGE_SYSCTL
    for position, entry in items(mapping(pod.spec.get("securityContext")).get("sysctls")):
        if entry.get("name") == name and pod.flag("hostNetwork"):
            yield failed(
                job.manifest,
                *pod.at("securityContext", "sysctls", position),
                found=f"{name} in a pod in the host's network, which is refused for it",
                allowed=f"an init container that runs sysctl -w {name}={value!r}",
            )
            return
    said = [
        " ".join(word.partition("=")[2].split())
        for container in pod.containers(init=True)
        for word in kernel_parameters(container)
        if word.startswith(f"{name}=")
    ]
    if said != [value]:
        yield failed(
            job.manifest,
            *pod.at("initContainers"),
            found=f"{name} {said[0]}" if said else f"nothing that sets {name}",
            allowed=f"an init container that runs sysctl -w {name}={value!r}, or nodes that have it",
            severity="error" if said else "warning",
        )


RULE = ManifestRule(
    id="CheckpointlessJob",
    title="a job that recovers from peers has what that needs",
    severity="error",
    why=(
        "Processes find each other again without a root, over many connections at once, on the host's "
        "network and on fixed ports. With a part of it missing the job runs, and falls back to a full "
        "restart at the first fault."
    ),
    fix="set what is missing, as in examples/jobs of this project",
    source=(
        "repo aws/sagemaker-hyperpod-checkpointless-training; AWS docs "
        "sagemaker-eks-checkpointless-features-communication"
    ),
    check=check,
)
