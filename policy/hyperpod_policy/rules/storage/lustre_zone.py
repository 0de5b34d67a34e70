"""The file system is in the zone of the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_policy.clusters import distinct, subnets
from hyperpod_policy.lustre_file_systems import lustre_file_systems
from hyperpod_policy.networks import SUBNET, same_zone
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements, single, truth

_ALLOWED = "the zone of the accelerated nodes"


def check(template: Template) -> Iterator[Verdict]:
    """Judge the subnet of each file system against those of the nodes that train."""
    places = [
        used.value
        for used, groups in distinct(subnets(template))
        if any(group.accelerated is not False for group in groups)
    ]
    if not places:
        return
    for file_system in lustre_file_systems(template):
        yield _judge(template, file_system, places)


def _judge(template: Template, file_system: Resource, places: list[Any]) -> Verdict:
    path = ("SubnetIds",)
    own, complete = elements(file_system.get(*path))
    answers = (
        {same_zone(template, single(one), place) for one in own for place in places}
        if complete and own
        else {None}
    )
    if True in answers:
        return passed(file_system, *path)
    if None in answers:
        found = "whether it is in the zone of the nodes is not in this template"
        return undetermined(file_system, *path, found=found, allowed=_ALLOWED)
    reached_over_efa = truth(file_system.get("LustreConfiguration", "EfaEnabled")) is True
    nodes = [template.resource(place, SUBNET) for place in places]
    names = ", ".join(subnet.logical_id for subnet in nodes if subnet is not None)
    return failed(
        file_system,
        *path,
        found=f"is in another Availability Zone than {names}, the subnets of accelerated nodes",
        allowed=_ALLOWED,
        severity="error" if reached_over_efa else None,
    )


RULE = Rule(
    id="LustreZone",
    title="the file system is in the Availability Zone of the nodes",
    severity="warning",
    why=(
        "A Lustre file system has its servers in one zone. From another one every read and checkpoint pays "
        "latency and a charge for each gigabyte, the training stops when either zone does, and EFA does not "
        "cross zones at all."
    ),
    fix="put the file system into the subnet of the nodes, or into one of the same zone",
    source="FSx for Lustre user guide, performance and efa-file-systems; EC2 user guide, EFA limitations",
    check=check,
)
