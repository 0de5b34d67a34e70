"""Pods of a distributed job are close to each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hyperpod_model.catalog.jobs import PREFERRED_TOPOLOGY_ANNOTATION, REQUIRED_TOPOLOGY_ANNOTATION
from hyperpod_model.catalog.labels import EFA_RESOURCE, NETWORK_LAYERS, ULTRASERVER_ID
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests import Manifest, ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import items, mapping
from hyperpod_policy.manifests.training_jobs import TrainingJob, training_jobs
from hyperpod_policy.manifests.verdicts import failed, passed

_ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_NEAR = (*(label.key for label in NETWORK_LAYERS), ULTRASERVER_ID.key)
_ANNOTATIONS = (REQUIRED_TOPOLOGY_ANNOTATION, PREFERRED_TOPOLOGY_ANNOTATION)
_KINDS = ("requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution")


def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
    """Judge where the pods of each distributed job with EFA go."""
    for job in training_jobs(manifests):
        count = job.pod_count
        if count is None or count < 2:
            continue
        for pod in job.pods():
            if any(EFA_RESOURCE in container.resources() for container in pod.containers()):
                yield _judge(job, pod)


def _judge(job: TrainingJob, pod: Pod) -> ManifestVerdict:
    apart = _spread(pod)
    if apart is not None:
        return failed(
            job.manifest,
            *apart,
            found="pods are spread over Availability Zones",
            allowed="pods in one zone",
            fix="remove the spreading: EFA does not cross zones",
            severity="error",
        )
    near = (
        any(key in _NEAR for _, key in _terms(pod, "podAffinity"))
        or any(name in place for name in _ANNOTATIONS for place in (pod.annotations, job.annotations))
        or pod.selection(*_NEAR, *_ZONES) is not None
    )
    if near:
        return passed(job.manifest, *pod.at("affinity"))
    return failed(
        job.manifest,
        *pod.at("affinity"),
        found="pods may be anywhere in the network",
        allowed=f"affinity by {_NEAR[2]}, or the annotation {PREFERRED_TOPOLOGY_ANNOTATION} with Kueue",
    )


def _spread(pod: Pod) -> FaultPath | None:
    for position, constraint in items(pod.spec.get("topologySpreadConstraints")):
        if constraint.get("topologyKey") in _ZONES:
            return pod.at("topologySpreadConstraints", position)
    return next((path for path, key in _terms(pod, "podAntiAffinity") if key in _ZONES), None)


def _terms(pod: Pod, kind: str) -> Iterator[tuple[FaultPath, Any]]:
    affinity = mapping(mapping(pod.spec.get("affinity")).get(kind))
    for member in _KINDS:
        for position, entry in items(affinity.get(member)):
            term = mapping(entry.get("podAffinityTerm", entry))
            yield pod.at("affinity", kind, member, position), term.get("topologyKey")


RULE = ManifestRule(
    id="PodTopology",
    title="pods of a distributed job are close to each other in the network",
    severity="advice",
    why=(
        "Every layer of switches between two nodes adds latency to each collective. Nodes carry their "
        "layers as labels. EFA does not work across Availability Zones at all."
    ),
    fix="prefer one network-node-layer for all pods of the job",
    source="AWS docs, topology of HyperPod nodes and task governance; EC2 User Guide, EFA limitations",
    check=check,
)
