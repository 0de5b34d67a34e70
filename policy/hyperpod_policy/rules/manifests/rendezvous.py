"""The pods of a distributed job have a place to meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.jobs import TORCHRUN_VARIABLE_PREFIX
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_ENDPOINTS = ("rdzv_endpoint", "master_addr")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge each Kubeflow job of several pods that torchrun starts."""
    for job in training_jobs(manifests):
        if not job.is_kubeflow or not job.is_distributed:
            continue
        for _, container, launch in job.launches():
            path = ("spec", "elasticPolicy")
            allowed = "elasticPolicy, a Master replica, or an endpoint in torchrun's options"
            if "standalone" in launch.options:
                yield failed(
                    job.manifest,
                    *container.path,
                    "command",
                    found="--standalone in a job of several pods, which makes each train a copy of its own",
                    allowed=allowed,
                )
            elif (
                job.elastic_policy is not None
                or job.has_master
                or any(name in launch.options for name in _ENDPOINTS)
                or any(container.variable(f"{TORCHRUN_VARIABLE_PREFIX}{name.upper()}") for name in _ENDPOINTS)
            ):
                yield passed(job.manifest, *path)
            elif launch.launcher == "torchrun":
                yield failed(
                    job.manifest,
                    *path,
                    found="workers only, and nothing that tells them where to meet",
                    allowed=allowed,
                )
            else:
                yield undetermined(
                    job.manifest,
                    *path,
                    found="workers only, and a launcher that is not seen",
                    allowed=allowed,
                )


RULE = ManifestRule(
    id="Rendezvous",
    title="the pods of a distributed job have a place to meet",
    severity="error",
    why=(
        "Without a Master replica and without elasticPolicy the operator tells torchrun how many nodes "
        "there are, but not where. Every pod waits at its own address for the others until it times out."
    ),
    fix="add elasticPolicy with rdzvBackend c10d and as many minReplicas as maxReplicas",
    source="kubeflow/training-operator v1.8.1, envvar.go and elastic.go; PyTorch, torchrun",
    check=check,
)
