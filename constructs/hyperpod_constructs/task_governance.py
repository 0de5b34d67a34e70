"""How teams share a cluster with EKS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import Annotations, CfnResource, Token
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import (
    EKS_CLUSTER,
    TEAM_QUOTA,
    check_kind,
    check_kinds,
    check_mapping,
    check_switch,
)
from hyperpod_constructs.cluster_place import check_cluster
from hyperpod_constructs.eks_control_plane import EksControlPlaneBase
from hyperpod_constructs.hyperpod_cluster import HyperPodCluster, HyperPodClusterBase
from hyperpod_constructs.taken_names import claim_name
from hyperpod_constructs.tokens import known
from hyperpod_constructs.unlisted_types import warn_of_unlisted_type
from hyperpod_constructs.value_faults import number_faults
from hyperpod_model.catalog.task_governance import (
    ADD_ON,
    DEFAULT_BORROW_LIMIT_PERCENT,
    DEFAULT_PREEMPT_OWN_TASKS,
    DEFAULT_STRATEGY,
    DEFAULT_WEIGHT,
    QUOTA_TYPE,
    SCHEDULER_TYPE,
    PreemptOwnTasks,
    SharingStrategy,
)
from hyperpod_model.checks.reading import below
from hyperpod_model.checks.task_governance import check_priority_classes, check_team_quotas
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath, Unknown
from hyperpod_model.sharing_plan import plan_table, shares_of

PLAN_NOTE = "hyperpod:TaskGovernance.plan"
GOVERNANCE_WARNING = "hyperpod:TaskGovernance.quota"


@dataclass(frozen=True, kw_only=True)
class TeamQuota:
    """What one team can count on, and how it shares.

    Attributes:
        team: Name of the team: 1 to 40 lower-case letters, digits and hyphens inside. Its jobs run in the
            namespace ``hyperpod-ns-<team>`` and the queue ``hyperpod-ns-<team>-localqueue``.
        instances: Number of instances by instance type, such as ``{"ml.p5.48xlarge": 8}``.
        fair_share_weight: Weight by which idle instances are shared out, 0 to 100. Default 0, the lowest.
        strategy: ``LendAndBorrow`` (default), ``Lend`` or ``DontLend``.
        borrow_limit_percent: How much the team may borrow, 1 to 500 percent; with ``LendAndBorrow`` only.
            Default 50.
        preempt_own_tasks: ``LowerPriority`` (default): the team's tasks of lower priority give way to its own
            of higher. ``Never``: they do not.
    """

    team: str
    instances: Mapping[str, int]
    fair_share_weight: int | None = None
    strategy: SharingStrategy | None = None
    borrow_limit_percent: int | None = None
    preempt_own_tasks: PreemptOwnTasks | None = None


class TaskGovernance(Construct):
    """Priority classes, quotas of teams, and the EKS add-on that enforces them.

    The quotas of all teams together must fit into the cluster. At synthesis it notes who is promised what,
    who may borrow it and who gives way. A quota names instances only, since what the service fills in from
    them (virtual CPUs, memory) would count as drift. The add-on comes after the cluster, since it needs a
    node, and before the policy and the quotas. It brings Kueue: one of your own must not be there.

    Source: SageMaker developer guide, sagemaker-hyperpod-eks-operate-console-ui-governance.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        cluster: The HyperPod cluster, with EKS.
        control_plane: Its EKS cluster, in which the add-on is installed. Default: the add-on is there
            already.
        teams: The quotas, at least one.
        priority_classes: Weights, 0 to 100, by name of up to 10 classes. Default: none.
        fair_share: Whether idle instances are shared out by weight; else first come, first served. A Token
            has to become ``Enabled`` or ``Disabled``. Default ``True``.
        idle_resource_sharing: Whether instances that no quota promises may be borrowed. Default ``True``.
        capacity: Instances by type. Default: those of ``cluster``, of an imported one not checked.
        spare_nodes: Nodes that no job should count on; quotas that promise them get a warning. Default:
            those of ``cluster``.
        add_on_version: Version of the add-on. Default: what EKS takes for its Kubernetes version.

    Attributes:
        plan: Who may borrow and take back what, as lines of text; None where capacity or quotas are known
            only at deployment.

    Raises:
        InvalidInputError: If an argument is of another kind, or with every fault of classes and quotas.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: HyperPodClusterBase,
        control_plane: EksControlPlaneBase | None = None,
        teams: Sequence[TeamQuota],
        priority_classes: Mapping[str, int] | None = None,
        fair_share: bool = True,
        idle_resource_sharing: bool = True,
        capacity: Mapping[str, int] | None = None,
        spare_nodes: int | None = None,
        add_on_version: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        owner = f"task governance '{self.node.path}'"
        refuse_arguments(
            owner,
            _kinds(
                self,
                cluster,
                control_plane,
                teams,
                priority_classes,
                capacity,
                fair_share,
                idle_resource_sharing,
            ),
        )
        classes = {} if priority_classes is None else dict(priority_classes)
        there = _capacity(cluster) if capacity is None else {name: known(n) for name, n in capacity.items()}
        warnings = refuse_arguments(
            owner,
            _faults(
                cluster,
                teams,
                classes,
                capacity=there,
                spare_nodes=_spares(cluster) if spare_nodes is None else known(spare_nodes),
                fair_share=known(fair_share),
            ),
        )
        refuse_arguments(
            owner,
            claim_name(
                self,
                "scheduling policy",
                cluster.cluster_name,
                path=("cluster",),
                way_out="a cluster has one, so give all teams to one TaskGovernance",
            ),
        )
        for warning in warnings:
            Annotations.of(self).add_warning_v2(GOVERNANCE_WARNING, warning.message)
        for kind in (SCHEDULER_TYPE, QUOTA_TYPE):
            warn_of_unlisted_type(self, kind)
        scheduler = sagemaker.CfnClusterSchedulerConfig(
            self,
            "Resource",
            cluster_arn=cluster.cluster_arn,
            name=f"{cluster.cluster_name}-policy" if _is_short(cluster.cluster_name) else "policy",
            scheduler_config=sagemaker.CfnClusterSchedulerConfig.SchedulerConfigProperty(
                fair_share=_switch(fair_share),
                idle_resource_sharing=_switch(idle_resource_sharing),
                priority_classes=[
                    sagemaker.CfnClusterSchedulerConfig.PriorityClassProperty(name=name, weight=weight)
                    for name, weight in classes.items()
                ]
                if classes
                else None,
            ),
        )
        scheduler.node.add_dependency(cluster)
        if control_plane is not None:
            scheduler.node.add_dependency(self._add_on(control_plane, cluster, add_on_version))
        for quota in teams:
            self._quota(cluster, quota).node.add_dependency(scheduler)
        self.plan = _plan(teams, there, idle_resource_sharing=idle_resource_sharing, fair_share=fair_share)
        if self.plan is not None:
            Annotations.of(self).add_info_v2(PLAN_NOTE, f"who shares what:\n{self.plan}")

    def _add_on(
        self, control_plane: EksControlPlaneBase, cluster: HyperPodClusterBase, version: str | None
    ) -> CfnResource:
        from aws_cdk import aws_eks_v2 as eks

        made = eks.CfnAddon(
            self,
            "AddOn",
            cluster_name=control_plane.cluster_name,
            addon_name=ADD_ON,
            addon_version=version,
            resolve_conflicts="OVERWRITE",
        )
        made.node.add_dependency(cluster)
        return made

    def _quota(self, cluster: HyperPodClusterBase, quota: TeamQuota) -> CfnResource:
        sharing: dict[str, Any] = {"Strategy": _or_default(quota.strategy, DEFAULT_STRATEGY)}
        if sharing["Strategy"] == "LendAndBorrow":
            sharing["BorrowLimit"] = _or_default(quota.borrow_limit_percent, DEFAULT_BORROW_LIMIT_PERCENT)
        # Unknown to the CDK. Everything with a default is said, so that what the service answers is no drift.
        return CfnResource(
            self,
            f"Quota{quota.team}"
            if not Token.is_unresolved(quota.team)
            else f"Quota{len(self.node.children)}",
            type=QUOTA_TYPE,
            properties={
                "Name": quota.team,
                "ClusterArn": cluster.cluster_arn,
                "ActivationState": "Enabled",
                "ComputeQuotaTarget": {
                    "TeamName": quota.team,
                    "FairShareWeight": _or_default(quota.fair_share_weight, DEFAULT_WEIGHT),
                },
                "ComputeQuotaConfig": {
                    "ComputeQuotaResources": [
                        {"InstanceType": name, "Count": number} for name, number in quota.instances.items()
                    ],
                    "ResourceSharingConfig": sharing,
                    "PreemptTeamTasks": _or_default(quota.preempt_own_tasks, DEFAULT_PREEMPT_OWN_TASKS),
                },
            },
        )


def _kinds(
    scope: Construct,
    cluster: HyperPodClusterBase,
    control_plane: EksControlPlaneBase | None,
    teams: Sequence[TeamQuota],
    priority_classes: Mapping[str, int] | None,
    capacity: Mapping[str, int] | None,
    fair_share: bool,
    idle_resource_sharing: bool,
) -> list[Fault]:
    faults = [
        *check_cluster(cluster, scope=scope),
        *check_kind(control_plane, EKS_CLUSTER, ("control_plane",)),
        *check_kinds(teams, TEAM_QUOTA, ("teams",), required=True),
    ]
    for name, value, of in (
        ("priority_classes", priority_classes, "weights by class"),
        ("capacity", capacity, "numbers by instance type"),
    ):
        if value is not None:
            faults += check_mapping(value, (name,), of=of)
            faults += _numbers(value, (name,))
    for name, switch in (("fair_share", fair_share), ("idle_resource_sharing", idle_resource_sharing)):
        # A Token stands for what the service takes.
        if known(switch) is not UNKNOWN:
            faults += check_switch(switch, (name,))
    if faults:
        return faults
    for index, quota in enumerate(teams):
        path = ("teams", index)
        faults += below(path, check_mapping(quota.instances, ("instances",), of="numbers by instance type"))
        faults += _numbers(quota.instances, (*path, "instances"))
        for name in ("fair_share_weight", "borrow_limit_percent"):
            faults += below(path, number_faults(getattr(quota, name), name))
    return faults


def _numbers(numbers: Any, path: FaultPath) -> list[Fault]:
    if not isinstance(numbers, Mapping):
        return []
    return [fault for name, number in numbers.items() for fault in below(path, number_faults(number, name))]


def _faults(
    cluster: HyperPodClusterBase,
    teams: Sequence[TeamQuota],
    classes: Mapping[str, Any],
    *,
    capacity: Mapping[str, Any] | Unknown,
    spare_nodes: Any,
    fair_share: Any,
) -> list[Fault]:
    faults = []
    if isinstance(cluster, HyperPodCluster) and cluster.orchestrator.kind != "eks":
        faults.append(
            Fault(("cluster",), "must be one with EKS: Slurm has accounts and partitions of its own")
        )
    if not teams:
        faults.append(Fault(("teams",), "is empty; give a quota"))
    quotas = [
        {
            "team": known(quota.team),
            "instances": known_numbers(quota.instances),
            "fair_share_weight": known(quota.fair_share_weight),
            "strategy": known(quota.strategy),
            "borrow_limit_percent": known(quota.borrow_limit_percent),
            "preempt_own_tasks": known(quota.preempt_own_tasks),
        }
        for quota in teams
    ]
    return [
        *faults,
        *below(
            ("priority_classes",),
            check_priority_classes({name: known(weight) for name, weight in classes.items()}),
        ),
        *below(
            ("teams",),
            check_team_quotas(quotas, capacity=capacity, spare_nodes=spare_nodes, fair_share=fair_share),
        ),
    ]


def known_numbers(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Return numbers, ``UNKNOWN`` for those that are known only at deployment."""
    return {name: known(number) for name, number in numbers.items()}


def _capacity(cluster: HyperPodClusterBase) -> dict[str, Any] | Unknown:
    if not isinstance(cluster, HyperPodCluster):
        return UNKNOWN
    capacity: dict[str, Any] = {}
    for group in cluster.instance_groups:
        for name in group.type_names:
            number, before = known(group.instance_count), capacity.get(name, 0)
            both = isinstance(number, int) and isinstance(before, int)
            capacity[name] = before + number if both else UNKNOWN
    return capacity


def _spares(cluster: HyperPodClusterBase) -> Any:
    return known(cluster.resilience.spare_nodes) if isinstance(cluster, HyperPodCluster) else 0


def _plan(
    teams: Sequence[TeamQuota],
    capacity: Mapping[str, Any] | Unknown,
    *,
    idle_resource_sharing: bool,
    fair_share: bool,
) -> str | None:
    if isinstance(capacity, Unknown) or any(isinstance(number, Unknown) for number in capacity.values()):
        return None
    shares = shares_of(teams)
    values = [value for share in shares for value in vars(share).values()]
    if any(Token.is_unresolved(value) for value in (*values, idle_resource_sharing, fair_share)):
        return None
    return plan_table(
        shares, capacity=capacity, idle_resource_sharing=idle_resource_sharing, fair_share=fair_share
    )


def _switch(on: Any) -> Any:
    return on if Token.is_unresolved(on) else ("Enabled" if on else "Disabled")


def _is_short(name: str) -> bool:
    return not Token.is_unresolved(name) and len(name) <= 56


def _or_default(value: Any, default: Any) -> Any:
    return default if value is None else value
