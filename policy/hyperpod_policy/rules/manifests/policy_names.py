"""Policies and back ends of a training job are ones that exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hyperpod_model.catalog.manifest_vocabulary import (
    DNS_POLICIES,
    IMAGE_PULL_POLICIES,
    POD_RESTART_POLICIES,
    RENDEZVOUS_BACKENDS,
    REPLICA_RESTART_POLICIES,
)
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.reading import is_deferred, listed, mapping, shown
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, hint, judged, undetermined


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge the words that each training job chooses from a list."""
    for job in training_jobs(manifests):
        yield from judged(job.manifest, ("spec",), _faults(job))


def _faults(job: TrainingJob) -> Iterator[ManifestVerdict]:
    for path, value, known in _choices(job):
        if value is None or value in known:
            continue
        allowed = listed(known)
        if is_deferred(value):
            yield undetermined(job.manifest, *path, found=f"{path[-1]} {shown(value)}", allowed=allowed)
        else:
            yield failed(
                job.manifest, *path, found=f"{path[-1]} {shown(value)}{hint(value, known)}", allowed=allowed
            )


def _choices(job: TrainingJob) -> Iterator[tuple[FaultPath, Any, tuple[str, ...]]]:
    clean = "cleanPodPolicy"
    yield ("spec", "runPolicy", clean), job.run_policy.get(clean), job.operator.clean_pod_policies
    if job.is_kubeflow:
        policy = mapping(job.elastic_policy)
        yield ("spec", "elasticPolicy", "rdzvBackend"), policy.get("rdzvBackend"), RENDEZVOUS_BACKENDS
    for replicas in job.replicas:
        if job.is_kubeflow:
            policy = replicas.body
            yield (
                (*replicas.path, "restartPolicy"),
                policy.get("restartPolicy"),
                REPLICA_RESTART_POLICIES,
            )
        pod = replicas.pod
        yield pod.at("restartPolicy"), pod.spec.get("restartPolicy"), POD_RESTART_POLICIES
        yield pod.at("dnsPolicy"), pod.spec.get("dnsPolicy"), DNS_POLICIES
        for container in pod.containers(init=True):
            pull = "imagePullPolicy"
            yield (*container.path, pull), container.body.get(pull), IMAGE_PULL_POLICIES


RULE = ManifestRule(
    id="PolicyNames",
    title="policies and rendezvous back ends are ones that exist",
    severity="error",
    why=(
        "The schemas take any text here. A misspelled restart policy makes the operator's pods be refused "
        "one after the other, a misspelled clean-up policy leaves pods that hold nodes, and an unknown back "
        "end stops every process at the rendezvous."
    ),
    fix="write one of the names that exist, in this spelling",
    source=(
        "kubeflow/training-operator v1.8.1, pkg/apis/kubeflow.org/v1; PyPI hyperpod-pytorch-job-template "
        "1.5.0; Kubernetes API reference, Pod"
    ),
    check=check,
)
