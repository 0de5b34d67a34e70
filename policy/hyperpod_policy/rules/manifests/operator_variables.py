"""A job does not set by hand what operator and launcher set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.manifest_vocabulary import OPERATOR_VARIABLES
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the environment of each training container."""
    for job in training_jobs(manifests):
        for _, container, launch in job.launches():
            path = (*container.path, "env")
            yield from judged(
                job.manifest,
                path,
                (
                    failed(
                        job.manifest,
                        *path,
                        position,
                        found=f"{name} in the environment, which is another one in each pod or process",
                        allowed=f"no {name}",
                    )
                    for position, name, value in container.variables()
                    if name in OPERATOR_VARIABLES
                    and value is not None
                    and (launch.launcher is not None or not launch.is_readable)
                ),
            )


RULE = ManifestRule(
    id="OperatorVariables",
    title="a job does not set by hand what operator and launcher set",
    severity="warning",
    why=(
        "Rank, world size and address differ from pod to pod and change when a node is replaced. A value in "
        "the manifest is the same in all of them, and which of the two wins is a matter of their order."
    ),
    fix="remove the variable, and let elasticPolicy or a Master replica set it",
    source="kubeflow/training-operator v1.8.1, envvar.go; PyTorch, torchrun",
    check=check,
)
