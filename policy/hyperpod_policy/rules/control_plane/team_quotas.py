"""The quotas of teams fit the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hyperpod_model.catalog.task_governance import QUOTA_TYPE
from hyperpod_model.checks.task_governance import check_team_quotas
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath, Unknown
from hyperpod_policy.clusters import CLUSTER, clusters, groups
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, elements, integer

_CONFIG: Final = "ComputeQuotaConfig"
_RESOURCES: Final = "ComputeQuotaResources"
_SHARING: Final = "ResourceSharingConfig"
_ALLOWED: Final = "quotas of instances that the cluster has, together no more than it has"
_OFF: Final = "Disabled"
_PATHS: Final[Mapping[str, FaultPath]] = {
    "team": ("ComputeQuotaTarget", "TeamName"),
    "instances": (_CONFIG, _RESOURCES),
    "fair_share_weight": ("ComputeQuotaTarget", "FairShareWeight"),
    "strategy": (_CONFIG, _SHARING, "Strategy"),
    "borrow_limit_percent": (_CONFIG, _SHARING, "BorrowLimit"),
    "preempt_own_tasks": (_CONFIG, "PreemptTeamTasks"),
}
"""Where a template says what the quota of a team has, by the words of `check_team_quotas`."""


def check(template: Template) -> Iterator[Verdict]:
    """Judge the quotas of each cluster of a template."""
    for cluster in clusters(template):
        quotas = [
            quota
            for quota in template.of_type(QUOTA_TYPE)
            if template.resource(quota.get("ClusterArn"), CLUSTER) is cluster
            and quota.get("ActivationState") != _OFF
        ]
        if quotas:
            yield from _judge(cluster, quotas)


def _judge(cluster: Resource, quotas: Sequence[Resource]) -> Iterator[Verdict]:
    asked = [_asked(quota) for quota in quotas]
    faults = check_team_quotas(asked, capacity=_capacity(cluster))
    seen = {fault.path[0] for fault in faults if fault.path}
    for fault in faults:
        yield _verdict(fault, quotas, asked)
    for position, quota in enumerate(quotas):
        unclear = isinstance(asked[position]["instances"], Unknown)
        if unclear:
            found = "may be more than the cluster has"
            yield undetermined(quota, _CONFIG, _RESOURCES, found=found, allowed=_ALLOWED)
        elif position not in seen and all(fault.path for fault in faults):
            yield passed(quota)


def _verdict(fault: Fault, quotas: Sequence[Resource], asked: Sequence[Mapping[str, Any]]) -> Verdict:
    if not fault.path:
        # About all of them: said of the last, which a reader of the template meets with the others above.
        return failed(quotas[-1], _CONFIG, _RESOURCES, found=fault.message, allowed=_ALLOWED)
    position, member = int(fault.path[0]), str(fault.path[1])
    found = fault.message
    if member == "instances" and len(fault.path) > 2:
        found = f"{fault.path[2]}: {found}"
    return failed(quotas[position], *_PATHS[member], found=found, allowed=_ALLOWED)


def _asked(quota: Resource) -> dict[str, Any]:
    found = {name: _known(quota.get(*path)) for name, path in _PATHS.items()}
    found["instances"] = _instances(quota)
    for name in ("fair_share_weight", "borrow_limit_percent"):
        number = integer(found[name])
        found[name] = found[name] if number is None else number
    if found["team"] is None:
        found["team"] = UNKNOWN
    return found


def _known(value: Any) -> Any:
    return UNKNOWN if isinstance(value, Unresolved) else value


def _instances(quota: Resource) -> dict[str, Any] | Unknown:
    listed, complete = elements(quota.get(_CONFIG, _RESOURCES))
    found: dict[str, Any] = {}
    for one in listed:
        name = one.get("InstanceType") if isinstance(one, Mapping) else None
        if not isinstance(name, str):
            return UNKNOWN
        number = integer(one.get("Count"))
        # Without Count the quota is a part of an instance, such as some of its accelerators.
        found[name] = UNKNOWN if number is None else number
    return found if complete else UNKNOWN


def _capacity(cluster: Resource) -> dict[str, Any] | Unknown:
    """Return the instances of a cluster by type; of one that scales by itself the types alone."""
    for name in ("InstanceGroups", "RestrictedInstanceGroups"):
        listed, complete = elements(cluster.get(name))
        if not complete or not all(isinstance(group, Mapping) for group in listed):
            return UNKNOWN
    scales = cluster.get("AutoScaling") is not None
    capacity: dict[str, Any] = {}
    for group in groups(cluster):
        names, complete = group.instance_types
        if not complete or not all(isinstance(name, str) for name in names):
            return UNKNOWN
        count = integer(group.properties.get("InstanceCount"))
        fixed = count if len(names) == 1 and not scales else None
        for name in names:
            before = capacity.get(name, 0)
            capacity[name] = UNKNOWN if fixed is None or isinstance(before, Unknown) else before + fixed
    return capacity


RULE = Rule(
    id="TeamQuotas",
    title="the quotas of teams fit the cluster",
    severity="warning",
    why=(
        "A quota of instances that the cluster does not have is admitted by the queue and waits for nodes "
        "that never come, and the team that was promised them learns it last."
    ),
    fix=(
        "lower the quotas until they fit, or let teams lend and borrow what others leave idle; "
        "TaskGovernance checks it at synthesis"
    ),
    source="SageMaker developer guide, HyperPod task governance, compute allocations",
    check=check,
)
