"""A job is started by the launcher of its operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the launcher of each training container."""
    for job in training_jobs(manifests):
        wanted = job.operator.launcher
        for _, container, launch in job.launches():
            path = (*container.path, "command")
            if launch.launcher == wanted:
                yield passed(job.manifest, *path)
            elif launch.launcher is not None:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"{launch.launcher} in a {job.operator.kind}",
                    allowed=wanted,
                )
            elif not job.is_kubeflow and launch.is_readable:
                yield failed(
                    job.manifest,
                    *path,
                    found="a command without launcher",
                    allowed=f"{wanted} with the script",
                )
            elif not job.is_kubeflow:
                yield undetermined(
                    job.manifest,
                    *path,
                    found="a command that the image or a script of it says",
                    allowed=f"one that runs {wanted}",
                )


RULE = ManifestRule(
    id="Launcher",
    title="a job is started by the launcher of its operator",
    severity="error",
    why=(
        "HyperPod's operator talks to the agent that hyperpodrun starts in each pod. With torchrun it waits "
        "for an agent that never answers, and the job stays in its start. The agent in turn waits for that "
        "operator."
    ),
    fix="run hyperpodrun in a HyperPodPyTorchJob, and torchrun in a PyTorchJob",
    source="PyPI hyperpod-elastic-agent 1.1.3; AWS docs sagemaker-eks-operator-usage",
    check=check,
)
