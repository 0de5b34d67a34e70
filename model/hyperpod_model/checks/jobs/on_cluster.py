"""A job against the cluster that it is to run on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_model.checks.instance_types import named_types
from hyperpod_model.checks.jobs.defaults import (
    Job,
    fewest_nodes,
    instance_type_of,
    most_nodes,
    namespace_of,
)
from hyperpod_model.checks.jobs.groups import GroupMatch, matching_groups, pods_on, room_for_pods
from hyperpod_model.checks.orchestrators import autoscales, orchestrator_of
from hyperpod_model.checks.reading import (
    absent,
    at,
    given,
    is_unknown,
    items,
    number,
    quoted,
    structures,
    text,
)
from hyperpod_model.faults import Fault, FaultPath, Severity
from hyperpod_model.pod_resources import NodeSetup, memory_left_gib
from hyperpod_model.sharing_plan import PlannedShare

Request = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queues:
    """The queues of a cluster under task governance.

    Attributes:
        teams: Names of all teams that have a quota.
        shares: What they are promised and may borrow, of each instance type.
        priority_classes: Names of the priority classes.
    """

    teams: tuple[str, ...]
    shares: tuple[PlannedShare, ...]
    priority_classes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSide:
    """What a cluster says of jobs, beyond its ``CreateCluster`` request.

    Attributes:
        training_pods: Namespace and service account that the training role is for. None for no such role.
        durable_interval_steps: Steps between checkpoints that last, as the cluster was planned. None where it
            says none.
        queues: How teams share it. None where it says nothing of teams, whose quotas may then come from
            elsewhere.
    """

    training_pods: tuple[str, str] | None = None
    durable_interval_steps: int | None = None
    queues: Queues | None = None


def check_on_cluster(job: Job, request: Request, side: ClusterSide) -> list[Fault]:
    """Check a job against a cluster.

    Args:
        job: The job as plain values, each field given. ``UNKNOWN`` passes.
        request: The cluster in terms of the ``CreateCluster`` request.
        side: What the cluster says beyond it.

    Returns:
        Errors, for a job that never starts there or cannot do what it says, and warnings.
    """
    orchestrator = orchestrator_of(request)
    if orchestrator == "slurm":
        return [_for_slurm(job, request)]
    groups = matching_groups(job, request)
    return [
        *_check_groups(job, request, groups),
        *_check_capacity(job, groups),
        *_check_tiered(job, request),
        *_check_memory(job, request),
        *_check_interval(job, side),
        *_check_identity(job, side),
        *_check_queue(job, side.queues),
    ]


def _for_slurm(job: Job, request: Request) -> Fault:
    wanted = text(job, "instance_type")
    partitions = dict.fromkeys(
        name
        for _, group in structures(request, "InstanceGroups")
        if wanted in {type_name for _, type_name in named_types(group)}
        for name in items(group, "SlurmConfig", "PartitionNames")
        if isinstance(name, str)
    )
    where = f" to partition {quoted(partitions)}" if partitions else ""
    return Fault(
        (),
        "is a Kubernetes job, and the cluster runs Slurm; send a batch script"
        f"{where} with sbatch: hyperpod-jobs render --slurm writes one",
    )


def _check_groups(job: Job, request: Request, groups: Sequence[GroupMatch]) -> list[Fault]:
    fitting = [group for group in groups if group.reason is None]
    if not groups:
        there = dict.fromkeys(
            name for _, group in structures(request, "InstanceGroups") for _, name in named_types(group)
        )
        wanted = text(job, "instance_type")
        if wanted is None or _is_open(request):
            return []
        return [
            Fault(
                ("instance_type",), f"is in no group of the cluster, got {wanted!r}; it has {quoted(there)}"
            )
        ]
    if not fitting:
        return list(dict.fromkeys(Fault(group.path, group.reason or "") for group in groups))
    return _check_count(job, request, fitting)


def _check_count(job: Job, request: Request, groups: Sequence[GroupMatch]) -> list[Fault]:
    room = room_for_pods(job, groups)
    least, most = fewest_nodes(job), most_nodes(job)
    if room is None or least is None or most is None:
        return []
    spares = number(job, "spares")
    spares = 0 if spares is None else spares
    names = quoted(group.name for group in groups)
    path: FaultPath = ("nodes",) if absent(job, "elastic") else ("elastic", "min_nodes")
    severity: Severity = "warning" if autoscales(request) else "error"
    later = ", unless Karpenter adds some" if autoscales(request) else ""
    if least > room:
        return [Fault(path, f"must be at most {room}, the room in {names}{later}, got {least}", severity)]
    if most + spares > room and spares > 0:
        message = (
            f"and nodes must be at most {room} together, the room in {names}{later}, got {spares} and {most}"
        )
        return [Fault(("spares",), message, severity)]
    if most > room:
        message = f"is more than {room}, the room in {names}{later}, so that it is never reached, got {most}"
        return [Fault(("elastic", "max_nodes"), message, "warning")]
    if most == room and given(job, "auto_resume") and absent(job, "elastic"):
        message = (
            f"takes all {room} of {names}, so that after a fault the job waits until the node is replaced, "
            "for "
            "hours with deep health checks; leave one free"
        )
        return [Fault(path, message, "warning")]
    return []


def _check_capacity(job: Job, groups: Sequence[GroupMatch]) -> list[Fault]:
    fitting = [group for group in groups if group.reason is None]
    if not fitting or any(group.is_spot is None for group in fitting):
        return []
    spot = [group.name for group in fitting if group.is_spot]
    said = at(job, "capacity_type")
    if said == "spot" and not spot:
        message = f"is not that of {quoted(group.name for group in fitting)}; leave it out"
        return [Fault(("capacity_type",), message, "warning")]
    if said != "on-demand" or not spot:
        return []
    if given(job, "elastic") and at(job, "operator") == "hyperpod":
        message = (
            f"is 'spot' in {quoted(spot)}, which does not go with elastic training; give nodes for elastic"
        )
        return [Fault(("capacity_type",), message, "error" if len(spot) == len(fitting) else "warning")]
    if len(spot) == len(fitting):
        message = (
            f"is 'spot' in {quoted(spot)}: AWS takes the nodes back at short notice; say 'spot' if "
            "you mean it"
        )
        return [Fault(("capacity_type",), message, "warning")]
    return []


def _check_tiered(job: Job, request: Request) -> list[Fault]:
    mode = at(request, "TieredStorageConfig", "Mode")
    is_on = mode == "Enable"
    path: FaultPath = ("tiered_checkpointing",)
    if is_on and absent(job, "tiered_checkpointing"):
        if given(job, "elastic"):
            return []
        percentage = number(request, "TieredStorageConfig", "InstanceMemoryAllocationPercentage")
        share = "a share" if percentage is None else f"{percentage} percent"
        message = (
            f"is on in the cluster, where it keeps {share} of the memory, and this job does not "
            "write through it"
        )
        way_out = "give it, turn it off there, or acknowledge this warning with a reason"
        return [Fault(path, f"{message}; {way_out}", "warning")]
    if not given(job, "tiered_checkpointing"):
        return []
    if mode is None or mode == "Disable":
        message = (
            "is off in the cluster: each save goes to the bucket alone, and is as slow; turn it on there"
        )
        return [Fault(path, message, "warning")]
    there = number(request, "TieredStorageConfig", "InstanceMemoryAllocationPercentage")
    here = number(job, "tiered_checkpointing", "memory_percentage")
    if there is None or here is None or there == here:
        return []
    message = f"must be {there}, as in the cluster, since pods can ask only for the rest, got {here}"
    return [Fault((*path, "memory_percentage"), message)]


def _check_memory(job: Job, request: Request) -> list[Fault]:
    found = instance_type_of(job)
    percentage = number(request, "TieredStorageConfig", "InstanceMemoryAllocationPercentage")
    is_on = at(request, "TieredStorageConfig", "Mode") == "Enable"
    asks_for_all = absent(job, "memory_gib") and absent(job, "tiered_checkpointing")
    if found is None or percentage is None or not is_on or not asks_for_all:
        return []
    left = memory_left_gib(found, node=NodeSetup(tiered_memory_percentage=percentage))
    message = (
        "is all of the node unless this cluster is given when the job is rendered, and the cluster leaves "
        f"{left} "
        "GiB; render with it"
    )
    return [Fault(("memory_gib",), message, "warning")]


def _check_interval(job: Job, side: ClusterSide) -> list[Fault]:
    planned, said = side.durable_interval_steps, number(job, "checkpoint", "s3_interval_steps")
    recovers = given(job, "checkpointless") or given(job, "tiered_checkpointing")
    if planned is None or said is None or said <= planned or not recovers:
        return []
    return [
        Fault(
            ("checkpoint", "s3_interval_steps"),
            f"is {said}, and the cluster plans {planned}: peers and memory recover single nodes, and when "
            "all stop, "
            f"up to {said} steps are lost; keep {planned}",
            "warning",
        )
    ]


def _check_identity(job: Job, side: ClusterSide) -> list[Fault]:
    writes = given(job, "checkpoint", "s3_uri")
    account, namespace = text(job, "service_account"), namespace_of(job)
    if side.training_pods is None:
        if not writes:
            return []
        message = (
            "has no role in the cluster, which names no training_pods, so that checkpoint.s3_uri may "
            "be closed"
        )
        return [Fault(("service_account",), f"{message}; name them there", "warning")]
    wanted_namespace, wanted_account = side.training_pods
    severity: Severity = "error" if writes else "warning"
    why = "have the training role" + (", which checkpoint.s3_uri needs" if writes else "")
    faults = []
    if namespace is not None and namespace != wanted_namespace:
        message = f"must be {wanted_namespace!r}, whose training_pods {why}, got {namespace!r}"
        faults.append(Fault(("namespace",), message, severity))
    if absent(job, "service_account") or (account is not None and account != wanted_account):
        got = "none" if account is None else repr(account)
        message = f"must be {wanted_account!r}, whose training_pods {why}, got {got}"
        faults.append(Fault(("service_account",), message, severity))
    return faults


def _check_queue(job: Job, queues: Queues | None) -> list[Fault]:
    if queues is None:
        return []
    if absent(job, "team"):
        message = (
            "is none, so that the job takes nodes past the queues by which teams share this cluster; give "
            f"one of {quoted(queues.teams)}, or acknowledge this warning with a reason"
        )
        return [Fault(("team",), message, "warning")]
    team, faults = text(job, "team"), _check_priority(job, queues)
    if team is None:
        return faults
    if team not in queues.teams:
        message = (
            f"has no quota in the cluster, so that its job never starts, got {team!r}; give one of "
            f"{quoted(queues.teams)}, or name it in task_governance.teams there"
        )
        return [Fault(("team",), message), *faults]
    return [*faults, *_check_quota(job, team, queues)]


def _check_priority(job: Job, queues: Queues) -> list[Fault]:
    priority = text(job, "priority_class")
    if priority is None or priority in queues.priority_classes:
        return []
    if not queues.priority_classes:
        way_out = "which has none; leave it out, or name it in task_governance.priority_classes there"
    else:
        way_out = f"whose classes are {quoted(queues.priority_classes)}; give one of them"
    return [Fault(("priority_class",), f"is no priority class of the cluster, {way_out}, got {priority!r}")]


def _check_quota(job: Job, team: str, queues: Queues) -> list[Fault]:
    wanted, least, most = text(job, "instance_type"), fewest_nodes(job), most_nodes(job)
    of_team = [planned for planned in queues.shares if planned.share.team == team]
    if wanted is None or least is None or most is None:
        return []
    planned = next((one for one in of_team if one.share.instance_type == wanted), None)
    if planned is None:
        types = quoted(one.share.instance_type for one in of_team)
        message = f"is in no quota of team {team!r}, which has {types}, so that its job never starts"
        return [Fault(("instance_type",), f"{message}, got {wanted!r}; choose one, or give it some there")]
    spares = number(job, "spares")
    spares = 0 if spares is None else spares
    promised, borrowed = planned.share.promised, planned.borrows_at_most
    room = pods_on(job, promised + borrowed)
    share = f"the {promised} instances of team {team!r} and the {borrowed} that it may borrow"
    unit = "" if room == promised + borrowed else f", {room} of these pods,"
    if least + spares > room:
        path: FaultPath = ("nodes",) if absent(job, "elastic") else ("elastic", "min_nodes")
        with_spares = f" with {spares} spares" if spares else ""
        message = (
            f"is more than {share}{unit} hold{with_spares}, so that the job waits for ever, got {least}; "
            "lower it, or raise the quota"
        )
        return [Fault(path, message, "warning")]
    if most + spares > room:
        message = f"is more than {share}{unit} hold, so that it is never reached, got {most}"
        return [Fault(("elastic", "max_nodes"), message, "warning")]
    return []


def _is_open(request: Request) -> bool:
    """Whether some group's instance types are known only at deployment."""
    groups = at(request, "InstanceGroups")
    return is_unknown(groups) or any(
        is_unknown(group) or is_unknown(at(group, "InstanceType")) for group in groups
    )
