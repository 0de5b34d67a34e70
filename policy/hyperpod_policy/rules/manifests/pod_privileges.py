"""Training containers have no privileges on the node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.features import checkpointless_at, kernel_parameters
from hyperpod_policy.manifests.reading import mapping
from hyperpod_policy.manifests.training_jobs import training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged

_CAPABILITIES = {
    "SYS_ADMIN": "error",
    "ALL": "error",
    "SYS_MODULE": "error",
    "SYS_RAWIO": "error",
    "SYS_BOOT": "error",
    "DAC_READ_SEARCH": "error",
    "BPF": "error",
    "PERFMON": "warning",
    "NET_ADMIN": "warning",
    "SYS_PTRACE": "warning",
}
_HARMLESS = "IPC_LOCK"
_UNCONFINED = "Unconfined"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the security context of each container of a training job.

    One that sets the kernel parameters of checkpointless training has no other way to do so in the host's
    network.
    """
    for job in training_jobs(manifests):
        sets_parameters = checkpointless_at(job) is not None
        for _, container in job.containers(init=True):
            if sets_parameters and kernel_parameters(container):
                continue
            yield from judged(
                job.manifest, (*container.path, "securityContext"), _faults(job.manifest, container)
            )
        for pod in job.pods():
            path = pod.at("securityContext")
            yield from _unconfined(job.manifest, path, mapping(pod.spec.get("securityContext")))


def _faults(manifest: Manifest, container: Container) -> Iterator[ManifestVerdict]:
    context = mapping(container.body.get("securityContext"))
    path = (*container.path, "securityContext")
    if context.get("privileged") is True:
        yield failed(
            manifest, *path, "privileged", found="a privileged container", allowed="privileged false"
        )
    yield from _unconfined(manifest, path, context)
    if context.get("procMount") == "Unmasked":
        yield failed(
            manifest, *path, "procMount", found="procMount Unmasked", allowed="the usual one, Default"
        )
    added = mapping(context.get("capabilities")).get("add")
    for position, name in enumerate(added if isinstance(added, list) else ()):
        plain = str(name).upper().removeprefix("CAP_")
        if plain in _CAPABILITIES:
            yield failed(
                manifest,
                *path,
                "capabilities",
                "add",
                position,
                found=f"capability {name}",
                allowed=f"none, or {_HARMLESS}",
                severity="error" if _CAPABILITIES[plain] == "error" else "warning",
            )


def _unconfined(manifest: Manifest, path: FaultPath, context: Mapping[str, Any]) -> Iterator[ManifestVerdict]:
    for member in ("seccompProfile", "appArmorProfile"):
        if mapping(context.get(member)).get("type") == _UNCONFINED:
            yield failed(
                manifest,
                *path,
                member,
                "type",
                found=f"{member} {_UNCONFINED}",
                allowed="RuntimeDefault",
                severity="warning",
            )


RULE = ManifestRule(
    id="PodPrivileges",
    title="training containers have no privileges on the node",
    severity="error",
    why=(
        "Device plug-ins hand GPUs and EFA to plain containers. A privileged one is root on the node: with "
        "a checkpoint that somebody tampered with, the node's role and every other pod there are taken as "
        "well."
    ),
    fix="remove privileged and the capability; EFA needs at most IPC_LOCK",
    source="Kubernetes docs, pod security standards; AWS EFA device plug-in",
    check=check,
)
