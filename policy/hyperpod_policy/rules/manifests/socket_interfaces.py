"""NCCL looks for its peers on an interface that the pod has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.collectives import (
    HOST_NETWORK_INTERFACES,
    POD_NETWORK_INTERFACES,
    SOCKET_INTERFACES,
)
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed

_POD_INTERFACE = re.compile(r"=?eth\d*")
_LOOPBACK = re.compile(r"=?lo\d*")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the interfaces of each training container that names some."""
    for job in training_jobs(manifests):
        for pod, container in job.trainers():
            variable = container.variable(SOCKET_INTERFACES)
            if variable is None or not isinstance(variable[1], str):
                continue
            position, value = variable
            path = (*container.path, "env", position)
            on_host = pod.flag("hostNetwork")
            names = [name.strip() for name in value.split(",") if name.strip()]
            if value.startswith("^"):
                wrong = [] if {"lo"} & {name.lstrip("^=") for name in names} else ["^ without lo"]
            else:
                foreign = [name for name in names if on_host == bool(_POD_INTERFACE.fullmatch(name))]
                wrong = [name for name in names if _LOOPBACK.fullmatch(name)] or foreign
            if wrong:
                network = "the host's network" if on_host else "a network of its own"
                yield failed(
                    job.manifest,
                    *path,
                    found=f"{SOCKET_INTERFACES}={value} in a pod with {network}",
                    allowed=HOST_NETWORK_INTERFACES if on_host else POD_NETWORK_INTERFACES,
                )
            else:
                yield passed(job.manifest, *path)


RULE = ManifestRule(
    id="SocketInterfaces",
    title="NCCL looks for its peers on an interface that the pod has",
    severity="warning",
    why=(
        "NCCL meets over TCP before it uses EFA. A pod has eth0 alone, a pod in the host's network has the "
        "node's interfaces, which differ by type. With a name that is not there NCCL stops at start."
    ),
    fix="leave interfaces out with ^, in place of naming the one that is there today",
    source="NCCL user guide, NCCL_SOCKET_IFNAME; AWS VPC CNI plug-in",
    check=check,
)
