"""Accelerated groups that train together have their subnets in one zone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from hyperpod_policy.clusters import Group, clusters, groups
from hyperpod_policy.networks import equal_zones, zone_of
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, elements

_OVERRIDE = "OverrideVpcConfig"
_ALLOWED = "one Availability Zone for all accelerated groups"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the zones of each cluster whose accelerated groups have several subnets, or of their own."""
    for cluster in clusters(template):
        accelerated = [group for group in groups(cluster) if group.accelerated is not False]
        own = [group for group in accelerated if _OVERRIDE in group.properties]
        shared = [group for group in accelerated if group not in own]
        if own:
            yield from _judge(template, cluster, accelerated, own)
        if shared:
            yield from _spread(template, cluster, shared)


def _judge(
    template: Template, cluster: Resource, accelerated: list[Group], own: list[Group]
) -> Iterator[Verdict]:
    first: tuple[Group, Any] | None = None
    quiet = True
    for group in accelerated:
        zones = _zones(template, cluster, group)
        path = (*group.path, _OVERRIDE, "Subnets") if group in own else ("VpcConfig", "Subnets")
        if group in own and len(zones) > 1:
            differ = _differ(zones)
            if differ is not False:
                quiet = False
                answer = undetermined if differ is None else failed
                found = f"group '{group.name}' spans {' and '.join(map(str, zones))}"
                yield answer(cluster, *path, found=found, allowed=_ALLOWED)
                continue
        if len(zones) != 1:
            continue
        if first is None:
            first = (group, zones[0])
            continue
        differ = _differ([first[1], zones[0]])
        if differ is not False:
            quiet = False
            found = (
                f"group '{group.name}' is in {zones[0]} and group '{first[0].name}' in {first[1]}: no job "
                "runs well on both"
            )
            if differ is None:
                yield undetermined(cluster, *path, found=found, allowed=_ALLOWED)
            else:
                yield failed(cluster, *path, found=found, allowed=_ALLOWED, severity="warning")
    if quiet:
        yield passed(cluster, "InstanceGroups")


def _spread(template: Template, cluster: Resource, shared: list[Group]) -> Iterator[Verdict]:
    """Judge the subnets of the whole cluster, over which HyperPod may spread its groups."""
    zones = _zones(template, cluster, shared[0])
    if len(zones) < 2:
        return
    differ = _differ(zones)
    path = ("VpcConfig", "Subnets")
    names = ", ".join(f"'{group.name}'" for group in shared)
    found = f"are in {' and '.join(map(str, zones))}, for accelerated groups too ({names})"
    if differ:
        yield failed(cluster, *path, found=found, allowed=_ALLOWED, severity="warning")
    elif differ is None:
        yield undetermined(cluster, *path, found=found, allowed=_ALLOWED)
    else:
        yield passed(cluster, *path)


def _zones(template: Template, cluster: Resource, group: Group) -> list[Any]:
    """Return the zones of a group's subnets, each once; a subnet of elsewhere stands for its own zone."""
    override = group.properties.get(_OVERRIDE)
    if isinstance(override, Unresolved):
        return [override]
    own = override.get("Subnets") if isinstance(override, Mapping) else None
    listed, _ = elements(cluster.get("VpcConfig", "Subnets") if override is None else own)
    found: list[Any] = []
    for value in listed:
        zone = zone_of(template, value)
        if zone not in found:
            found.append(zone)
    return found


def _differ(zones: list[Any]) -> bool | None:
    """Whether zones differ; names and ids, or a subnet that is not in the template, cannot be compared."""
    answers = set()
    for one, other in pairwise(zones):
        equal = equal_zones(one, other)
        answers.add(None if equal is None else not equal)
    return True if True in answers else (None if None in answers else False)


RULE = Rule(
    id="GroupZones",
    title="accelerated groups that train together have their subnets in one zone",
    severity="error",
    why=(
        "EFA traffic does not cross Availability Zones: a job on nodes of two falls back to TCP or hangs, "
        "and a subnet cannot be changed for an existing group."
    ),
    fix=(
        "choose subnets of one zone for all accelerated groups; where they never run one job together, "
        "acknowledge the finding"
    ),
    source=(
        "EC2 user guide, EFA limitations; SageMaker developer guide, sagemaker-hyperpod-prerequisites "
        "(OverrideVpcConfig)"
    ),
    check=check,
)
