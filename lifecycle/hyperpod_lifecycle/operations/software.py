"""Updates of the software of a live cluster's nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hyperpod_lifecycle.operations.clusters import Cluster, Node
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_model.checks.software_updates import check_software_updates, check_software_updates_under

BatchUnit = Literal["INSTANCE_COUNT", "CAPACITY_PERCENTAGE"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSize:
    """How many nodes at once.

    Attributes:
        unit: Nodes, or percent of the group.
        value: How many, 1 or more.
    """

    unit: BatchUnit
    value: int

    @property
    def words(self) -> str:
        """Such as ``25 % of the group``."""
        return f"{self.value} nodes" if self.unit == "INSTANCE_COUNT" else f"{self.value} % of the group"


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwarePlan:
    """What is about to be updated.

    Attributes:
        cluster: The cluster.
        nodes: Nodes that are imaged anew, and on which lifecycle scripts run again.
        request: Members of ``UpdateClusterSoftware``.
        refusals: Why it is not done; empty if it may be.
        consequences: What it brings with it.
    """

    cluster: Cluster
    nodes: tuple[Node, ...]
    request: Mapping[str, Any]
    refusals: tuple[str, ...]
    consequences: tuple[str, ...]


def plan_update(
    *,
    cluster: Cluster,
    nodes: Sequence[Node],
    groups: Sequence[str] = (),
    all_groups: bool = False,
    image_id: str | None = None,
    release_version: str | None = None,
    batch: BatchSize | None = None,
    rollback_batch: BatchSize | None = None,
    wait_seconds: int | None = None,
    rollback_alarms: Sequence[str] = (),
) -> SoftwarePlan:
    """Say what an update would do.

    Args:
        cluster: The cluster, as it is now.
        nodes: All its nodes.
        groups: Names of the groups. Default: all on EKS; on Slurm none, since the controller is in one.
        all_groups: Whether all groups are meant, Slurm's controller included. Default: False.
        image_id: Image of one's own, or ``default``. Default: HyperPod's newest.
        release_version: Release of HyperPod's image, such as ``1.2.3``. Default: the newest.
        batch: How many nodes at once. Default: HyperPod updates all at once.
        rollback_batch: How many nodes at once where it rolls back. Default: as HyperPod does.
        wait_seconds: Between batches. Default: none.
        rollback_alarms: CloudWatch alarms that roll it back. Default: none.

    Raises:
        OperationError: If a group is unknown, or none is named where one must be.
    """
    known = {group.name: group for group in cluster.groups}
    unknown = [name for name in groups if name not in known]
    if unknown:
        raise OperationError(
            "unsuitable",
            f"cluster {cluster.name} has no group {', '.join(unknown)}; it has {', '.join(known)}",
        )
    if cluster.orchestrator == "slurm" and not groups and not all_groups:
        raise OperationError("unsuitable", _name_the_groups(cluster))
    wanted = [known[name] for name in dict.fromkeys(groups)] if groups else list(known.values())
    touched = tuple(node for node in nodes if node.group in {group.name for group in wanted})
    deployment = _deployment(batch, rollback_batch, wait_seconds, rollback_alarms)
    request: dict[str, Any] = {"ClusterName": cluster.arn}
    if groups or release_version is not None:
        version = {} if release_version is None else {"ImageReleaseVersion": release_version}
        request["InstanceGroups"] = [{"InstanceGroupName": group.name, **version} for group in wanted]
    if image_id is not None:
        request["ImageId"] = image_id
    if deployment:
        request["DeploymentConfig"] = deployment
    refusals: list[str] = []
    if cluster.status != "InService":
        refusals.append(f"cluster {cluster.name} is {cluster.status}, not InService; wait")
    own = [group.name for group in wanted if group.own_image is not None]
    if own and image_id is None:
        refusals.append(
            f"group {', '.join(own)} has an image of its own; say --image-id with another one, or default"
        )
    if image_id is not None and release_version is not None:
        refusals.append("an image and a release of HyperPod's image exclude each other; say one of them")
    if deployment and batch is None:
        refusals.append("waiting, alarms and rollback go with batches; say how many nodes at once")
    checked = {"ScheduledUpdateConfig": {"DeploymentConfig": deployment}}
    faults = [*check_software_updates(checked), *check_software_updates_under(checked, cluster.orchestrator)]
    refusals += [fault.message for fault in faults if fault.severity == "error"]
    return SoftwarePlan(
        cluster=cluster,
        nodes=touched,
        request=request,
        refusals=tuple(refusals),
        consequences=tuple(_consequences(cluster, [group.name for group in wanted], batch, touched)),
    )


def _name_the_groups(cluster: Cluster) -> str:
    controllers = [group.name for group in cluster.groups if group.slurm_node_type == "Controller"]
    there = ", ".join(f"{group.name} ({group.current} nodes)" for group in cluster.groups)
    others = [group.name for group in cluster.groups if group.name not in controllers]
    told = (
        f"{' and '.join(controllers)} with Slurm's controller, which stops the scheduler for all jobs"
        if controllers
        else "that of Slurm's controller, which stops the scheduler for all jobs; the API does not tell "
        "which that is, since lifecycle scripts set Slurm up"
    )
    example = f", such as --group {others[0]}" if controllers and others else ""
    return (
        f"on Slurm an update of all groups updates also {told}: name groups with --group{example}, or say "
        f"--all-groups; cluster {cluster.name} has {there}"
    )


def _deployment(
    batch: BatchSize | None,
    rollback_batch: BatchSize | None,
    wait_seconds: int | None,
    rollback_alarms: Sequence[str],
) -> dict[str, Any]:
    sizes = {"MaximumBatchSize": batch, "RollbackMaximumBatchSize": rollback_batch}
    policy = {
        name: {"Type": size.unit, "Value": size.value} for name, size in sizes.items() if size is not None
    }
    return {
        **({"RollingUpdatePolicy": policy} if policy else {}),
        **({} if wait_seconds is None else {"WaitIntervalInSeconds": wait_seconds}),
        **(
            {"AutoRollbackConfiguration": [{"AlarmName": name} for name in rollback_alarms]}
            if rollback_alarms
            else {}
        ),
    }


def _consequences(
    cluster: Cluster, groups: Sequence[str], batch: BatchSize | None, nodes: Sequence[Node]
) -> list[str]:
    scripts = dict.fromkeys(
        group.scripts for group in cluster.groups if group.name in groups and group.scripts is not None
    )
    found = [
        f"{len(nodes)} nodes of {', '.join(groups)} are imaged anew: what is on their root volumes is lost",
        f"the lifecycle scripts run again on each of them: {', '.join(scripts)}"
        if scripts
        else "they have no lifecycle scripts that would run again",
        "jobs on them end"
        + (", all at once: no batches are asked for" if batch is None else f", {batch.words} at a time"),
    ]
    controllers = [
        group.name
        for group in cluster.groups
        if group.name in groups and group.slurm_node_type == "Controller"
    ]
    if controllers:
        found.append(
            "Slurm's controller is among them: no job starts until it is back, and its state is lost unless "
            "it is kept elsewhere, such as in FSx"
        )
    return found
