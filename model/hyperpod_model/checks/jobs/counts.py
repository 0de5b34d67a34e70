"""Nodes, spares and processes of a job."""

from __future__ import annotations

from hyperpod_model.catalog.pod_resources import processes_per_device
from hyperpod_model.checks.jobs.bounds import check_at_least
from hyperpod_model.checks.jobs.defaults import Job, instance_type_of, most_nodes
from hyperpod_model.checks.reading import absent, at, below, given, items, number, text
from hyperpod_model.faults import Fault
from hyperpod_model.pod_resources import node_accelerators

_HYPERPOD_ONLY = (
    "step_nodes",
    "scaling_timeout_seconds",
    "graceful_shutdown_timeout_seconds",
    "faulty_scale_down_timeout_seconds",
    "scale_up_snooze_seconds",
)


def check_counts(job: Job) -> list[Fault]:
    """Check how many nodes, spares and processes a job has.

    Args:
        job: The job.
    """
    faults = check_at_least(job, ("nodes", "processes_per_node"), 1)
    faults += check_at_least(job, ("spares",), 0)
    if absent(job, "elastic") and absent(job, "nodes"):
        faults.append(Fault(("nodes",), "is required: the number of nodes, or elastic in place of it"))
    elif given(job, "elastic") and given(job, "nodes"):
        faults.append(Fault(("elastic",), "excludes nodes; keep one of the two"))
    if given(job, "elastic"):
        faults += below(("elastic",), _check_elastic(job))
    return [*faults, *_check_rendezvous(job), *_check_spares(job), *_check_processes(job)]


def _check_elastic(job: Job) -> list[Fault]:
    elastic = at(job, "elastic")
    faults = check_at_least(elastic, ("min_nodes", "max_nodes"), 1)
    faults += check_at_least(elastic, _HYPERPOD_ONLY[:-1], 1)
    faults += check_at_least(elastic, _HYPERPOD_ONLY[-1:], 0)
    least, most = number(elastic, "min_nodes"), number(elastic, "max_nodes")
    if least is not None and most is not None and most < least:
        faults.append(Fault(("max_nodes",), f"must be min_nodes or more, {least}, got {most}"))
    elif least is not None and least == most:
        message = f"is min_nodes too, so that the job never changes; give nodes: {least} in place of elastic"
        faults.append(Fault(("max_nodes",), message, "warning"))
    operator = text(job, "operator")
    if operator == "kubeflow":
        given_only = [name for name in _HYPERPOD_ONLY if given(elastic, name)]
        given_only += ["allowed_nodes"] if items(elastic, "allowed_nodes") else []
        faults += [
            Fault((name,), "is for operator 'hyperpod'; torchrun takes any number between, leave it out")
            for name in given_only
        ]
    elif operator == "hyperpod":
        faults += _check_steps(job, least, most)
    return faults


def _check_steps(job: Job, least: int | None, most: int | None) -> list[Fault]:
    step, allowed = number(job, "elastic", "step_nodes"), items(job, "elastic", "allowed_nodes")
    has_step = not absent(job, "elastic", "step_nodes")
    has_allowed = bool(allowed) or at(job, "elastic", "allowed_nodes") not in ([], (), None)
    if has_step and has_allowed:
        return [Fault(("allowed_nodes",), "excludes step_nodes; keep one of the two")]
    if not has_step and not has_allowed:
        message = "is required, or allowed_nodes in its place: by how much the number of nodes changes"
        return [Fault(("step_nodes",), message)]
    if least is None or most is None or most < least:
        return []
    if step is not None and step >= 1 and (most - least) % step:
        reached = most - (most - least) % step
        message = f"leads from {least} to {reached}, never to max_nodes, {most}; change one of the three"
        return [Fault(("step_nodes",), message, "warning")]
    known = [value for value in allowed if isinstance(value, int)]
    return [
        Fault(("allowed_nodes", index), f"must be {least} to {most}, min_nodes to max_nodes, got {value}")
        for index, value in enumerate(allowed)
        if isinstance(value, int) and not least <= value <= most
    ] or [
        Fault(("allowed_nodes", index), f"must be more than the one before, got {value}")
        for index, (value, before) in enumerate(zip(known[1:], known, strict=False), start=1)
        if len(known) == len(allowed) and value <= before
    ]


def _check_rendezvous(job: Job) -> list[Fault]:
    if at(job, "rendezvous") != "master":
        return []
    path = ("rendezvous",)
    if at(job, "operator") == "hyperpod":
        return [
            Fault(path, "'master' is for operator 'kubeflow'; the HyperPod operator sees to it, leave it out")
        ]
    if given(job, "elastic"):
        return [Fault(path, "'master' fixes the number of nodes; leave it out, or give nodes for elastic")]
    return []


def _check_spares(job: Job) -> list[Fault]:
    spares = number(job, "spares")
    if spares is None or spares < 1:
        return []
    if at(job, "operator") == "kubeflow":
        return [Fault(("spares",), "are for operator 'hyperpod'; leave them out, or change operator")]
    if absent(job, "team"):
        return [Fault(("spares",), "need team: it is the queue of task governance that keeps them free")]
    return []


def _check_processes(job: Job) -> list[Fault]:
    processes, found = number(job, "processes_per_node"), instance_type_of(job)
    if processes is None or processes < 1 or found is None or found.accelerator is None:
        return []
    said = number(job, "accelerators")
    if not (absent(job, "accelerators") or said) or not absent(job, "gpu_partition"):
        return []
    devices = node_accelerators(found) if said is None else said
    each = processes_per_device(found)
    most = devices * each
    what = "GPUs" if found.accelerator.kind == "gpu" else "logical Neuron cores"
    if processes > most:
        message = f"must be at most {most}, one for each of the {what} of a pod, got {processes}"
        return [Fault(("processes_per_node",), message)]
    if processes < most and found.accelerator.kind == "gpu":
        message = (
            f"leaves {most - processes} of the {most} {what} of a pod idle; leave it out, or ask for fewer"
        )
        return [Fault(("processes_per_node",), message, "warning")]
    return []


def pods_may_share_nodes(job: Job) -> bool:
    """Whether several pods of a job may be on one node, as far as is known.

    Args:
        job: The job.
    """
    found, said, nodes = instance_type_of(job), number(job, "accelerators"), most_nodes(job)
    if found is None or said is None or nodes is None or nodes < 2:
        return False
    return said < node_accelerators(found) or given(job, "gpu_partition")
