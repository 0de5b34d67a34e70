"""FI_PROVIDER names EFA where there is EFA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.collectives import PROVIDER, WITHOUT_PLUG_IN
from hyperpod_model.catalog.labels import EFA_RESOURCE
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.reading import shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed

_NAME, _EFA = PROVIDER


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the provider and the network of NCCL of each training container that names one."""
    for job in training_jobs(manifests):
        for _, container in job.trainers():
            yield from _without_plug_in(job, container)
            variable = container.variable(_NAME)
            if variable is None or not isinstance(variable[1], str):
                continue
            position, value = variable
            path = (*container.path, "env", position)
            amount = container.amount(EFA_RESOURCE)
            if value == _EFA and amount == 0:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"{_NAME}={_EFA} in a pod that asks for no {EFA_RESOURCE}",
                    allowed=f"{_NAME} only beside EFA interfaces",
                )
            elif value != _EFA and amount != 0:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"{_NAME}={shown(value)} in a pod with EFA interfaces",
                    allowed=_EFA,
                    fix=f"set {_NAME} to {_EFA}, or leave it out: libfabric prefers EFA by itself",
                )
            else:
                yield passed(job.manifest, *path)


def _without_plug_in(job: TrainingJob, container: Container) -> Iterator[ManifestVerdict]:
    """Yield variables that keep NCCL from the plug-in by which it uses EFA."""
    if container.amount(EFA_RESOURCE) == 0:
        return
    for name, values in WITHOUT_PLUG_IN.items():
        variable = container.variable(name)
        if variable is not None and str(variable[1]).lower() in values:
            yield failed(
                job.manifest,
                *container.path,
                "env",
                variable[0],
                found=f"{name}={shown(variable[1])} in a pod with EFA interfaces, which leaves them unused",
                allowed=f"no {name}",
                fix=f"remove {name}: NCCL takes the plug-in for EFA by itself",
            )


RULE = ManifestRule(
    id="EfaProvider",
    title="FI_PROVIDER names EFA exactly where the pod has EFA",
    severity="error",
    why=(
        "With FI_PROVIDER=efa and no interface libfabric finds no provider at all, and NCCL fails at start "
        "or goes on without its plug-in. Another provider beside EFA interfaces leaves them unused, and so "
        "does another network of NCCL or none of its plug-ins."
    ),
    fix="ask for vpc.amazonaws.com/efa in the count of the instance type, or remove FI_PROVIDER",
    source="libfabric fi_efa man page; EC2 User Guide, EFA and NCCL; NCCL user guide, NCCL_NET",
    check=check,
)
