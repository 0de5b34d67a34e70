"""How many pods a job has, and where they run."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_charts.command.explanation.reason import Reason
from hyperpod_model.catalog.instances import instance_type
from hyperpod_model.catalog.jobs import OPERATORS, auto_resumes_in
from hyperpod_model.catalog.labels import DEEP_HEALTH_CHECK_STATUS, INSTANCE_TYPE, NODE_HEALTH_STATUS
from hyperpod_model.job_spec import JobSpec


def pods(job: JobSpec) -> Iterator[Reason]:
    """Explain which object is made, how many pods it has and on which nodes they run.

    Args:
        job: The job.
    """
    operator = OPERATORS[job.operator]
    yield Reason(
        "kind",
        f"{operator.kind} of {operator.api_version}",
        f"operator is {job.operator!r}, which runs these",
    )
    yield Reason("namespace", job.resolved_namespace, _namespace(job))
    yield _count(job)
    yield from _placement(job)
    if job.team is not None:
        yield Reason(
            "queue",
            ", ".join(f"{key}={value}" for key, value in job.labels_of_job().items()),
            f"team {job.team!r}: the job waits for quota in its queue, as a whole",
        )
    for key, value in job.annotations_of_pods().items():
        yield Reason(key, value, "topology: the queue places the pods together")
    yield Reason(
        "service account",
        job.service_account if job.service_account is not None else "the namespace's default",
        "the pods' AWS role comes from it"
        if job.service_account is not None
        else "the pods have no AWS role",
    )
    yield Reason(
        "network",
        "that of the node" if job.uses_host_network else "the pod's own, with a NetworkPolicy",
        "checkpointless training connects by the node's addresses; no NetworkPolicy holds there"
        if job.checkpointless is not None
        else "host_network says so; no NetworkPolicy holds there"
        if job.host_network
        else "only the job's own pods and its operator reach its processes, which take commands from anybody",
    )
    for claim in job.persistent_volume_claims:
        yield Reason(
            claim.mount_path,
            f"claim {claim.claim_name}{', read only' if claim.read_only else ''}",
            "persistent_volume_claims names it",
        )


def _namespace(job: JobSpec) -> str:
    if job.namespace is not None:
        chosen = "namespace says so"
    elif job.team is not None:
        chosen = f"task governance makes it for team {job.team!r}"
    else:
        chosen = "default of this operator"
    if job.operator == "kubeflow" and job.auto_resume is not None and auto_resumes_in(job.resolved_namespace):
        return f"{chosen}; HyperPod resumes Kubeflow jobs there"
    return chosen


def _count(job: JobSpec) -> Reason:
    if job.min_nodes != job.max_nodes:
        return Reason(
            "pods",
            f"{job.min_nodes} to {job.max_nodes}",
            "elastic says between which numbers of nodes the job may change",
        )
    spares = f", and {job.spares} spare in the queue" if job.spares else ""
    return Reason("pods", f"{job.max_nodes}{spares}", "one a node, as many as nodes says")


def _placement(job: JobSpec) -> Iterator[Reason]:
    placement = job.placement()
    accelerator = instance_type(job.instance_type).accelerator
    reasons = {
        INSTANCE_TYPE.key: "HyperPod labels nodes with the ml. prefix"
        + ("" if accelerator is None else f"; {accelerator.count} x {accelerator.model} a node"),
        NODE_HEALTH_STATUS.key: "HyperPod takes the label away from a node that it is about to replace",
        DEEP_HEALTH_CHECK_STATUS.key: "deep_health_checked: only nodes that passed deep health checks",
    }
    for key, value in placement.node_selector.items():
        yield Reason(f"node {key}", value, reasons.get(key, "node_selector says so"))
    for said in placement.tolerations:
        own = any(said == given for given in job.tolerations)
        yield Reason(
            f"toleration {said.key}",
            said.effect if said.effect is not None else "every effect",
            "tolerations says so" if own else "nodes with accelerators commonly have this taint",
        )
    if placement.topology_key is not None:
        yield Reason(
            "affinity",
            placement.topology_key,
            "topology: all pods below the same switch, "
            + ("or the job waits" if placement.topology_required else "if there is room"),
        )
