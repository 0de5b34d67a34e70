"""A command names only variables that somebody sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.jobs import KUBEFLOW_VARIABLES, TORCHRUN_VARIABLE_PREFIX
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.launching import launch_of
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined

_BY_KUBELET = re.compile(r"(?<!\$)\$\(([A-Za-z_]\w*)\)")
_BY_SHELL = re.compile(r"(?<![\\$])\$[({]?([A-Za-z_]\w*)")
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*)=")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the variables in each training container's command."""
    for job in training_jobs(manifests):
        for _, container in job.trainers():
            yield from judged(job.manifest, (*container.path, "command"), _faults(job, container))


def _faults(job: TrainingJob, container: Container) -> Iterator[ManifestVerdict]:
    is_shell = launch_of(container).is_shell
    given = {name for _, name, _ in container.variables()}
    if job.has_master:
        given.update(KUBEFLOW_VARIABLES)
    for member, texts in (("command", container.command), ("args", container.args)):
        for position, text in enumerate(texts):
            unset = [name for name in _named(text, is_shell=is_shell) if name not in given]
            if not unset:
                continue
            path = (*container.path, member, position)
            if container.reads_more_variables:
                yield undetermined(
                    job.manifest,
                    *path,
                    found=f"{' and '.join(unset)}, which a config map or secret may set",
                    allowed="variables that are set",
                )
            else:
                yield failed(
                    job.manifest,
                    *path,
                    found=f"{' and '.join(unset)}, {_reason(job, unset)}: it "
                    + ("expands to nothing" if is_shell else f"stays the text $({unset[0]})"),
                    allowed="variables that are set",
                )


def _named(text: str, *, is_shell: bool) -> list[str]:
    """Return the variables that a text names; of those in a shell only the operator's, as it has its own."""
    if not is_shell:
        found = _BY_KUBELET.findall(text)
        return [name for name in dict.fromkeys(found) if not name.startswith(TORCHRUN_VARIABLE_PREFIX)]
    assigned = set(_ASSIGNED.findall(text))
    return [
        name
        for name in dict.fromkeys(_BY_SHELL.findall(text))
        if name in KUBEFLOW_VARIABLES and name not in assigned
    ]


def _reason(job: TrainingJob, names: Sequence[str]) -> str:
    if not set(names) & set(KUBEFLOW_VARIABLES):
        return "which nothing sets"
    if job.is_kubeflow:
        return "which the operator sets only in a job with a Master replica"
    return "which HyperPod's operator does not set"


RULE = ManifestRule(
    id="CommandVariables",
    title="a command names only variables that somebody sets",
    severity="error",
    why=(
        "Kubernetes leaves a reference to an unset variable as it is written. A job of workers only that "
        "names $(MASTER_ADDR) hands that text to torchrun as an address, and every pod crashes at start. It "
        "is the most copied sample."
    ),
    fix=(
        "use elasticPolicy and nprocPerNode, which set torchrun's rendezvous, and leave the options out; or "
        "add a Master replica"
    ),
    source=(
        "kubeflow/training-operator v1.8.1, envvar.go; Kubernetes docs, dependent environment variables; "
        "measured with torchrun"
    ),
    check=check,
)
