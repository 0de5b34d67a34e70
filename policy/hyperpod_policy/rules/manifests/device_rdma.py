"""RDMA is switched on only where the instance type has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.collectives import DEVICE_RDMA, aborts_with_device_rdma
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.placing import candidates, efa_interfaces
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed, undetermined

_NAME, _ON = DEVICE_RDMA


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the RDMA flag of each training container that has it."""
    for job in training_jobs(manifests):
        for pod, container in job.trainers():
            variable = container.variable(_NAME)
            if variable is None or str(variable[1]) != _ON:
                continue
            path = (*container.path, "env", variable[0])
            chosen = candidates(pod, container)
            types = [found for found in chosen.types if chosen.is_chosen or efa_interfaces(found) > 0]
            aborting = [found.name for found in types if aborts_with_device_rdma(found)]
            allowed = "not set on types without RDMA"
            if not types:
                yield undetermined(
                    job.manifest, *path, found=f"{_NAME}={_ON} on an unknown type", allowed=allowed
                )
            elif not aborting:
                yield passed(job.manifest, *path)
            elif chosen.is_chosen:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"{_NAME}={_ON} on {', '.join(aborting)}, whose EFA has no RDMA",
                    allowed=allowed,
                )
            else:
                yield undetermined(
                    job.manifest,
                    *path,
                    found=f"{_NAME}={_ON}, and the pod may land on {aborting[0]}, whose EFA has no RDMA",
                    allowed=allowed,
                    fix=f"select an instance type, or leave {_NAME} out: current libfabric needs no flag",
                )


RULE = ManifestRule(
    id="DeviceRdma",
    title="RDMA is switched on only where the instance type has it",
    severity="error",
    why=(
        "With this flag on a type without RDMA, such as g5 and g4dn, libfabric aborts the process. Where "
        "RDMA is there, libfabric from 1.18 on with aws-ofi-nccl from 1.7 on uses it without the flag."
    ),
    fix="remove FI_EFA_USE_DEVICE_RDMA",
    source="libfabric fi_efa man page; EC2 User Guide, EFA supported instance types",
    check=check,
)
