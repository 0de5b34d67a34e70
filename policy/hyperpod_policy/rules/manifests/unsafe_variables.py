"""No variable is set that slows or breaks EFA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.collectives import UNSAFE_VARIABLES
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the environment of each training job's containers."""
    for job in training_jobs(manifests):
        for _, container in job.containers(init=False):
            path = (*container.path, "env")
            yield from judged(
                job.manifest,
                path,
                (
                    failed(
                        job.manifest,
                        *path,
                        position,
                        found=f"{name}, which {UNSAFE_VARIABLES[name]}",
                        allowed=f"no {name}",
                    )
                    for position, name, _ in container.variables()
                    if name in UNSAFE_VARIABLES
                ),
            )


RULE = ManifestRule(
    id="UnsafeVariables",
    title="no variable is set that slows or breaks EFA",
    severity="warning",
    why=(
        "Old samples carry RDMAV_FORK_SAFE. It makes every fork copy the registered memory, which slows "
        "data loaders, and current libfabric handles forks by itself."
    ),
    fix="remove the variable",
    source="libfabric fi_efa man page; awsome-distributed-training, EFA cheatsheet",
    check=check,
)
