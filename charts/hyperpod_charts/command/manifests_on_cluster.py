"""Manifests written elsewhere against the cluster that they are to run on, as far as they tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from types import MappingProxyType
from typing import Any, Final

from hyperpod_model.catalog.labels import DEEP_HEALTH_CHECK_STATUS, EFA_RESOURCE
from hyperpod_model.cluster_spec import ClusterSpec
from hyperpod_model.faults import UNKNOWN, FaultPath
from hyperpod_model.job_spec import JobSpec
from hyperpod_model.job_spec.on_cluster import check_values_on_cluster
from hyperpod_model.job_spec.tiered_checkpointing import TieredCheckpointsSpec
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.features import tiered_at
from hyperpod_policy.manifests.manifest import Manifest
from hyperpod_policy.manifests.pods import Pod
from hyperpod_policy.manifests.reading import GIB, integer, is_deferred, items
from hyperpod_policy.manifests.rule import ManifestRule, ManifestVerdict
from hyperpod_policy.manifests.training_jobs import Replicas, TrainingJob, training_jobs

RULE_ID: Final = "JobOnCluster"

ANSWERED_BY_A_CLUSTER: Final = frozenset({"DeepHealthSelector", "NodeCapacity"})
"""Rules whose open questions a cluster answers: whether nodes are checked, and how many CPUs they have."""

_MIG: Final = "mig-"
_TIERED: Final = tuple(TieredCheckpointsSpec.model_fields)
_TOLERATION: Final[Mapping[str, Any]] = MappingProxyType(
    {"key": None, "operator": "Equal", "value": None, "effect": None}
)


def rules_with(cluster: ClusterSpec | None, rules: Sequence[ManifestRule]) -> tuple[ManifestRule, ...]:
    """Return rules, and where a cluster is given what it adds and answers.

    Args:
        cluster: The cluster; None for none.
        rules: Rules that know of no cluster.
    """
    if cluster is None:
        return tuple(rules)
    return (
        *(_answered(rule, cluster) if rule.id in ANSWERED_BY_A_CLUSTER else rule for rule in rules),
        cluster_rule(cluster),
    )


def _answered(rule: ManifestRule, cluster: ClusterSpec) -> ManifestRule:
    """A rule that leaves no question open that :func:`cluster_rule` answers, with a finding or without."""

    def check(manifests: Sequence[Manifest]) -> Iterator[ManifestVerdict]:
        answered = [job.manifest for job in training_jobs(manifests) if _is_answered(job, cluster)]
        for verdict in rule.check(manifests):
            is_open = verdict.outcome == "undetermined"
            if is_open and any(manifest is verdict.manifest for manifest in answered):
                yield replace(verdict, outcome="pass")
            else:
                yield verdict

    return replace(rule, check=check)


def _is_answered(job: TrainingJob, cluster: ClusterSpec) -> bool:
    """Whether the cluster names the type of all pods, of which the container that trains is all there is."""
    pods = [replicas.pod for replicas in job.replicas]
    types = [pod.instance_types() for pod in pods]
    chosen = {types_of.values for types_of in types if types_of is not None}
    known = {name for group in cluster.instance_groups for name in group.named_instance_types}
    return (
        None not in types
        and len(chosen) == 1
        and len(first := next(iter(chosen))) == 1
        and first[0] in known
        and all(job.trainer_of(pod) is not None and len(list(pod.containers())) == 1 for pod in pods)
        and all(pod.spec == pods[0].spec for pod in pods)
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
        # A job may write to the memory tier and tell so nowhere: that nothing shows it says nothing.
        "tiered_checkpointing": UNKNOWN if tiered_at(job) is None else dict.fromkeys(_TIERED, UNKNOWN),
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
    tiered = tiered_at(job)
    return {
        "tiered_checkpointing": ("spec",) if tiered is None else tiered,
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
