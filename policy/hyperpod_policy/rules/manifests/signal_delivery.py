"""SIGTERM reaches the launcher, and not a shell around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge how each training container is started."""
    for job in training_jobs(manifests):
        for _, container, launch in job.launches():
            path = (*container.path, "command")
            name = launch.launcher
            if launch.is_shell and launch.launcher is not None and not launch.replaces_shell:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"a shell starts {name} and stays the container's first process",
                    allowed=f'the command as a list, ["{name}", ...], or exec {name} in the shell',
                    severity="warning" if launch.alone and job.is_kubeflow else "error",
                )
            elif not launch.is_readable and not launch.replaces_shell:
                yield undetermined(
                    job.manifest,
                    *path,
                    found="a command that the image or a script of it says",
                    allowed="one that ends in exec of the launcher",
                )
            else:
                yield passed(job.manifest, *path)


RULE = ManifestRule(
    id="SignalDelivery",
    title="SIGTERM reaches the launcher, and not a shell around it",
    severity="error",
    why=(
        "Kubernetes signals the first process of a container only, and a shell does not pass signals on. "
        "Training then never hears of the end, saves nothing in the grace period and is killed. Some shells "
        "make way for a single command by themselves, others do not. HyperPod's agent has to be that first "
        "process."
    ),
    fix="write the command as a list without a shell, or begin it with exec; no pipe after it",
    source="Kubernetes docs, termination of pods; PyPI hyperpod-elastic-agent 1.1.3, README",
    check=check,
)
