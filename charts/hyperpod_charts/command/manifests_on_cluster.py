"""Manifests written elsewhere against the cluster that they are to run on, as far as they tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil
from types import MappingProxyType
from typing import Any, Final

from hyperpod_model.catalog.labels import DEEP_HEALTH_CHECK_STATUS, EFA_RESOURCE
from hyperpod_model.cluster_spec import ClusterSpec
from hyperpod_model.faults import UNKNOWN, FaultPath
from hyperpod_model.job_spec import JobSpec
from hyperpod_model.job_spec.on_cluster import check_values_on_cluster
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.manifest import Manifest
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import GIB, integer, is_deferred, items
from hyperpod_policy.manifests.rule import ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.training_jobs import Replicas, TrainingJob, training_jobs

RULE_ID: Final = "JobOnCluster"

_MIG: Final = "mig-"
_TOLERATION: Final[Mapping[str, Any]] = MappingProxyType(
    {"key": None, "operator": "Equal", "value": None, "effect": None}
)


def cluster_rule(cluster: ClusterSpec) -> ManifestRule:
    """Make the rule that training jobs fit a cluster.

    Args:
        cluster: The cluster.
    """

    def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
        for job in training_jobs(manifests):
            yield from _judged(job, cluster)

    return ManifestRule(
        id=RULE_ID,
        title="a training job fits the cluster that it is to run on",
        severity="error",
        why=(
            "A job that asks for more nodes, another instance type or more of a node than there is waits for "
            "ever, and says no more than Pending."
        ),
        fix="change the job, or the cluster's instance groups",
        source="docs/jobs.md of this project, and the cluster's specification",
        check=check,
    )


def _judged(job: TrainingJob, cluster: ClusterSpec) -> Iterator[ManifestVerdict]:
    training = next((replicas for replicas in job.replicas if job.trainer_of(replicas.pod)), None)
    if training is None:
        return
    container = job.trainer_of(training.pod)
    if container is None:
        return
    faults = check_values_on_cluster(_values(job, training, container), cluster)
    places = _places(job, training, container)
    for fault in faults:
        field = str(fault.path[0]) if fault.path else ""
        named = f"{field.replace('_', ' ')} " if field else ""
        yield ManifestVerdict(
            "fail",
            job.manifest,
            places.get(field, ("spec",)),
            found=f"{named}{fault.message}",
            severity=fault.severity,
        )
    if not faults:
        yield ManifestVerdict("pass", job.manifest, ("spec",))


def _values(job: TrainingJob, training: Replicas, container: Container) -> dict[str, Any]:
    """What a job does, in terms of a job specification. What a manifest does not tell passes every check."""
    pod = training.pod
    types = pod.instance_types()
    accelerators = container.accelerators()
    amounts = [amount for amount in accelerators.values() if amount is not None]
    values: dict[str, Any] = dict.fromkeys(JobSpec.model_fields, UNKNOWN)
    values |= {
        "operator": job.operator_name,
        "instance_type": types.values[0] if types is not None and len(types.values) == 1 else UNKNOWN,
        "namespace": UNKNOWN if job.manifest.namespace is None else job.manifest.namespace,
        "team": None,
        "spares": integer(training.body.get("spares", 0)),
        "gpu_partition": next((name.partition("/")[2] for name in accelerators if f"/{_MIG}" in name), None),
        "accelerators": int(amounts[0]) if len(amounts) == 1 and amounts[0] >= 1 else UNKNOWN,
        "efa_interfaces": _whole(container.amount(EFA_RESOURCE), 1),
        "vcpu": _whole(container.amount("cpu"), 1),
        "memory_gib": _whole(container.amount("memory"), GIB),
        "deep_health_checked": pod.selection(DEEP_HEALTH_CHECK_STATUS.key) is not None,
        "service_account": _service_account(pod),
        "tolerations": [{**_TOLERATION, **said} for _, said in items(pod.spec.get("tolerations"))],
        "capacity_type": "on-demand",
        **_nodes(job),
    }
    return values


def _nodes(job: TrainingJob) -> dict[str, Any]:
    policy = job.elastic_policy
    least = None if policy is None else integer(policy.get("minReplicas"))
    most = job.pod_count
    if least is None or most is None or least >= most:
        return {"nodes": UNKNOWN if most is None else most, "elastic": None}
    return {"nodes": None, "elastic": {"min_nodes": least, "max_nodes": most}}


def _whole(amount: Fraction | None, unit: int) -> Any:
    return UNKNOWN if amount is None else ceil(amount / unit)


def _service_account(pod: Pod) -> Any:
    said = pod.spec.get("serviceAccountName")
    if said is None:
        return None
    return UNKNOWN if not isinstance(said, str) or is_deferred(said) else said


def _places(job: TrainingJob, training: Replicas, container: Container) -> dict[str, FaultPath]:
    pod = training.pod
    types = pod.instance_types()
    checked = pod.selection(DEEP_HEALTH_CHECK_STATUS.key)
    requests = (*container.path, "resources")
    return {
        "instance_type": pod.at("nodeSelector") if types is None else types.path,
        "nodes": (*training.path, "replicas"),
        "elastic": ("spec", "elasticPolicy"),
        "spares": (*training.path, "spares"),
        "namespace": ("metadata", "namespace"),
        "service_account": pod.at("serviceAccountName"),
        "deep_health_checked": pod.at("nodeSelector") if checked is None else checked.path,
        "tolerations": pod.at("tolerations"),
        **dict.fromkeys(("vcpu", "memory_gib", "accelerators", "gpu_partition", "efa_interfaces"), requests),
    }
