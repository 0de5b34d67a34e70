"""A Kubeflow job is resumed by HyperPod after a node is replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_model.catalog.jobs import (
    AUTO_RESUME_ANNOTATION,
    AUTO_RESUME_NAMESPACE,
    AUTO_RESUME_NAMESPACE_PREFIX,
    AUTO_RESUME_RESTART_POLICY,
    auto_resumes_in,
)
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import is_deferred, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, judged, undetermined

_PATH = ("metadata", "annotations", AUTO_RESUME_ANNOTATION)
_ON = "true"


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge annotation, namespace and restart policies of each Kubeflow job."""
    for job in training_jobs(manifests):
        if job.is_kubeflow:
            yield from judged(job.manifest, _PATH, _faults(job))


def _faults(job: TrainingJob) -> Iterator[ManifestVerdict]:
    written = job.annotations.get(AUTO_RESUME_ANNOTATION)
    if is_deferred(written):
        yield undetermined(job.manifest, *_PATH, found=f"{written}", allowed=f'"{_ON}"')
        return
    if written is None or str(written).lower() != _ON:
        yield failed(
            job.manifest,
            *_PATH,
            found="no annotation" if written is None else shown(written),
            allowed=f'{AUTO_RESUME_ANNOTATION}: "{_ON}"',
            severity="warning",
        )
        return
    if isinstance(written, str) and written != _ON:
        yield failed(job.manifest, *_PATH, found=shown(written), allowed=f'"{_ON}" in lower case')
    yield from _namespace(job)
    for replicas in job.replicas:
        policy = replicas.body.get("restartPolicy")
        if policy != AUTO_RESUME_RESTART_POLICY and not is_deferred(policy):
            yield failed(
                job.manifest,
                *replicas.path,
                "restartPolicy",
                found=f"restartPolicy {'missing' if policy is None else policy}",
                allowed=AUTO_RESUME_RESTART_POLICY,
                fix=f"set restartPolicy to {AUTO_RESUME_RESTART_POLICY} on each replica type",
            )


def _namespace(job: TrainingJob) -> Iterator[ManifestVerdict]:
    namespace = job.manifest.namespace
    allowed = f"{AUTO_RESUME_NAMESPACE}, or a namespace that begins with {AUTO_RESUME_NAMESPACE_PREFIX}"
    if namespace is None or is_deferred(namespace):
        yield undetermined(
            job.manifest,
            "metadata",
            "namespace",
            found="a namespace that is chosen when the job is applied",
            allowed=allowed,
        )
    elif not auto_resumes_in(namespace):
        yield failed(
            job.manifest,
            "metadata",
            "namespace",
            found=f"namespace {namespace}, whose jobs HyperPod does not resume",
            allowed=allowed,
            fix="move the job to a namespace in which HyperPod resumes jobs",
        )


RULE = ManifestRule(
    id="AutoResume",
    title="HyperPod resumes a PyTorchJob after it replaced a node",
    severity="error",
    why=(
        "A cordoned node sends no SIGTERM, and restartPolicy OnFailure restarts the container in place, on "
        "the faulty node. Only with this annotation, in these namespaces and with OnFailure, does HyperPod "
        "stop the job, wait for the new node and start it again."
    ),
    fix='set the annotation to "true" in quotes',
    source="AWS docs sagemaker-hyperpod-eks-resiliency, auto-resume; measured: OnFailure restarts in place",
    check=check,
)
