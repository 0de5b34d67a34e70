"""A command names only variables that somebody sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.jobs import KUBEFLOW_VARIABLES
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.launching import launch_of
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined

_BY_KUBELET = re.compile(r"(?<!\$)\$\(([A-Za-z_]\w*)\)")
_BY_SHELL = re.compile(r"(?<![\\$])\$(?:\((\w+)\)|\{(\w+)\}|(\w+))")
_OPERATOR = "PET_"


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
            names = [
                name
                for groups in (_BY_SHELL if is_shell else _BY_KUBELET).findall(text)
                for name in ([groups] if isinstance(groups, str) else groups)
                if name
            ]
            unset = [
                name
                for name in dict.fromkeys(names)
                if name not in given
                and (name in KUBEFLOW_VARIABLES or (not is_shell and not name.startswith(_OPERATOR)))
            ]
            if not unset:
                continue
            path = (*container.path, member, position)
            listing = " and ".join(unset)
            if container.reads_more_variables:
                yield undetermined(
                    job.manifest,
                    *path,
                    found=f"{listing}, which a config map or secret may set",
                    allowed="variables that are set",
                )
                continue
            reason = (
                "which the operator sets only in a job with a Master replica"
                if set(unset) & set(KUBEFLOW_VARIABLES)
                else "which nothing sets"
            )
            effect = "expands to nothing" if is_shell else f"stays the text $({unset[0]})"
            yield failed(
                job.manifest,
                *path,
                found=f"{listing}, {reason}: it {effect}",
                allowed="variables that are set",
            )


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
