"""Accelerated nodes pass deep health checks, or are declared to go without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_model import cluster_tags
from hyperpod_model.catalog.cluster_rules import (
    deep_health_check_accelerators,
    deep_health_check_hours,
    replacement_waits,
)
from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.checks.resilience import check_spare_nodes, runs_deep_health_checks
from hyperpod_policy.clusters import Group, clusters, groups, orchestrator
from hyperpod_policy.rule import Rule, Verdict, failed, passed, undetermined
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, elements, integer, request_terms

_MEMBER = "OnStartDeepHealthChecks"


def check(template: Template) -> Iterator[Verdict]:
    """Judge each instance group whose accelerators can be tested."""
    for cluster in clusters(template):
        tags = _tags(cluster)
        yield from _spares(cluster, tags)
        for group in groups(cluster):
            yield from _judge(group, tags)


def _spares(cluster: Resource, tags: Mapping[str, Any]) -> Iterator[Verdict]:
    """Judge whether the declared spares leave nodes to work; with spares, waits for checks cost nothing."""
    spares = integer(tags.get(cluster_tags.SPARE_NODES, 0))
    own = list(groups(cluster))
    if not any(group.accelerated for group in own):
        return
    for fault in check_spare_nodes(spares, [request_terms(group.properties) for group in own]):
        yield failed(
            cluster,
            "Tags",
            found=f"{cluster_tags.SPARE_NODES} {fault.message}",
            allowed="",
            fix="lower the tag, which ResiliencePolicy writes, or raise InstanceCount",
            severity="warning",
        )


def _judge(group: Group, tags: Mapping[str, Any]) -> Iterator[Verdict]:
    testable = _testable(group)
    if testable is False or group.path[0] != "InstanceGroups":
        return
    path = (*group.path, _MEMBER)
    found, complete = elements(group.properties.get(_MEMBER))
    allowed = (
        f"deep health checks, or the tag {cluster_tags.REPLACEMENT_WAIT} that says why not ('intolerable', "
        f"or 'avoid' once the cluster is commissioned) on a cluster without {cluster_tags.SPARE_NODES}"
    )
    if found:
        if testable and _off_is_declared(tags, commissioned=True):
            at_first = not _off_is_declared(tags, commissioned=False)
            yield failed(
                group.cluster,
                *path,
                found=(
                    f"group '{group.name}' is checked at every replacement, about "
                    f"{deep_health_check_hours()} hours each time, although {cluster_tags.REPLACEMENT_WAIT} "
                    f"is {tags[cluster_tags.REPLACEMENT_WAIT]!r}"
                ),
                allowed="off once the first checks have passed" if at_first else "off, or spare nodes",
                fix=(
                    "deploy again with commissioned=True (or without the checks) when the cluster is "
                    "InService"
                    if at_first
                    else "take the checks away, keep spare nodes, or say that the wait is tolerable"
                ),
                severity="warning",
            )
        else:
            yield passed(group.cluster, *path)
    elif _off_is_declared(tags, commissioned=True):
        yield passed(group.cluster, *path)
    elif not complete:
        yield undetermined(group.cluster, *path, found=f"is {group.properties[_MEMBER]}", allowed=allowed)
    elif testable is None:
        yield undetermined(
            group.cluster, *path, found=f"none for group '{group.name}' of an unknown type", allowed=allowed
        )
    elif _answers(group)[0] != {True}:
        yield failed(
            group.cluster,
            *path,
            found=f"none for group '{group.name}', whose types can be checked in part",
            allowed="a group of its own for the types that can be checked, with deep health checks",
            fix="split the group, since the service checks no group that may get other nodes",
            severity="warning",
        )
    else:
        yield failed(
            group.cluster, *path, found=f"none for accelerated group '{group.name}'", allowed=allowed
        )


def _testable(group: Group) -> bool | None:
    answers, complete = _answers(group)
    if True in answers:
        return True
    return None if None in answers or not complete else False


def _answers(group: Group) -> tuple[set[bool | None], bool]:
    """Whether each instance type can be checked, and whether these are all types."""
    kinds = deep_health_check_accelerators(orchestrator(group.cluster))
    names, complete = group.instance_types
    answers: set[bool | None] = set()
    for name in names:
        known = instance_types().get(name) if isinstance(name, str) else None
        accelerator = None if known is None else known.accelerator
        answers.add(None if known is None else accelerator is not None and accelerator.kind in kinds)
    return answers, complete


def _tags(cluster: Resource) -> dict[str, Any]:
    return {
        str(tag.get("Key")): tag.get("Value")
        for tag in elements(cluster.get("Tags"))[0]
        if isinstance(tag, Mapping)
    }


def _off_is_declared(tags: Mapping[str, Any], *, commissioned: bool) -> bool:
    wait = tags.get(cluster_tags.REPLACEMENT_WAIT)
    if wait is None or isinstance(wait, Unresolved) or wait not in replacement_waits():
        return False
    spares = integer(tags.get(cluster_tags.SPARE_NODES, 0))
    return not runs_deep_health_checks(
        spare_nodes=0 if spares is None else spares, replacement_wait=str(wait), commissioned=commissioned
    )


RULE = Rule(
    id="DeepHealthChecks",
    title="accelerated nodes pass deep health checks, or are declared to go without",
    severity="error",
    why=(
        "A node with weak memory or a slow link passes the usual checks and then stalls the whole job. Deep "
        "health checks find it before it takes work, at about two hours for each new node."
    ),
    fix=(
        "set OnStartDeepHealthChecks on the group, or say why not: ResiliencePolicy chooses from spares and "
        "tolerable waits, and leaves the tags"
    ),
    source="SageMaker developer guide, sagemaker-hyperpod-eks-resiliency-deep-health-checks",
    check=check,
)
