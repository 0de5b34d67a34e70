"""HyperPod clusters of a template and what they use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.faults import FaultPath
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Unresolved, elements, single

CLUSTER = "AWS::SageMaker::Cluster"

_GROUP_LISTS = ("InstanceGroups", "RestrictedInstanceGroups")


@dataclass(frozen=True, slots=True)
class Used:
    """Something that a cluster uses, such as a security group, and where it says so.

    Attributes:
        value: As resolved.
        cluster: The cluster.
        path: The property of the cluster.
        group: Instance group that uses it; ``None`` for all groups without settings of their own.
    """

    value: Any
    cluster: Resource
    path: FaultPath
    group: Group | None


@dataclass(frozen=True, slots=True)
class Group:
    """An instance group or restricted instance group.

    Attributes:
        cluster: Its cluster.
        path: Where in the cluster.
        properties: Its properties.
    """

    cluster: Resource
    path: FaultPath
    properties: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its name, as far as known."""
        return str(self.properties.get("InstanceGroupName", "without a name"))

    @property
    def instance_types(self) -> tuple[list[Any], bool]:
        """Instance types it may have, and whether these are all."""
        requirements = self.properties.get("InstanceRequirements")
        if isinstance(requirements, Unresolved):
            return [], False
        if isinstance(requirements, Mapping):
            return elements(requirements.get("InstanceTypes"))
        return elements(self.properties.get("InstanceType"))

    @property
    def accelerated(self) -> bool | None:
        """Whether its nodes have accelerators; ``None`` if only deployment can tell."""
        return self._any_type("is_accelerated")

    @property
    def uses_efa(self) -> bool | None:
        """Whether its nodes have EFA interfaces; ``None`` if nobody can tell."""
        return self._any_type("efa")

    def _any_type(self, what: Literal["is_accelerated", "efa"]) -> bool | None:
        names, complete = self.instance_types
        answers: list[bool | None] = [] if complete else [None]
        for name in names:
            found = instance_types().get(name) if isinstance(name, str) else None
            if found is None:
                answers.append(None)
            elif what == "is_accelerated":
                answers.append(found.is_accelerated)
            elif found.efa_interfaces.certain:
                answers.append(found.efa_interfaces.value > 0)
            else:
                # in doubt: the security groups must be right if it has EFA after all
                answers.append(True if found.is_accelerated else None)
        if True in answers:
            return True
        return None if None in answers else False


def clusters(template: Template) -> list[Resource]:
    """Return the HyperPod clusters of a template."""
    return list(template.of_type(CLUSTER))


def groups(cluster: Resource) -> Iterator[Group]:
    """Yield the instance groups and restricted instance groups of a cluster, as far as the template tells."""
    for name in _GROUP_LISTS:
        found, _ = elements(cluster.get(name))
        for position, properties in enumerate(found):
            if isinstance(properties, Mapping):
                yield Group(cluster, (name, position), properties)


def orchestrator(cluster: Resource) -> Literal["slurm", "eks"]:
    """Return what schedules jobs; a cluster that names nothing runs Slurm."""
    found = cluster.get("Orchestrator")
    return "eks" if isinstance(found, Mapping) and "Eks" in found else "slurm"


def security_groups(template: Template) -> list[Used]:
    """Return the security groups of all nodes, each once for each place that names it."""
    return template.once(_security_groups)


def subnets(template: Template) -> list[Used]:
    """Return the subnets of all nodes, each once for each place that names it."""
    return template.once(_subnets)


def execution_roles(template: Template) -> list[Used]:
    """Return the execution roles of all instance groups."""
    return template.once(_execution_roles)


def _security_groups(template: Template) -> list[Used]:
    return [used for cluster in clusters(template) for used in _network(cluster, "SecurityGroupIds")]


def _subnets(template: Template) -> list[Used]:
    return [used for cluster in clusters(template) for used in _network(cluster, "Subnets")]


def _execution_roles(template: Template) -> list[Used]:
    return [
        Used(single(group.properties["ExecutionRole"]), cluster, (*group.path, "ExecutionRole"), group)
        for cluster in clusters(template)
        for group in groups(cluster)
        if "ExecutionRole" in group.properties
    ]


def _network(cluster: Resource, member: str) -> Iterator[Used]:
    yield from _listed(cluster, cluster.get("VpcConfig", member), ("VpcConfig", member), None)
    for group in groups(cluster):
        override = group.properties.get("OverrideVpcConfig")
        path = (*group.path, "OverrideVpcConfig")
        if isinstance(override, Unresolved):
            yield Used(override, cluster, path, group)
        elif isinstance(override, Mapping):
            yield from _listed(cluster, override.get(member), (*path, member), group)


def _listed(cluster: Resource, value: Any, path: FaultPath, group: Group | None) -> Iterator[Used]:
    found, complete = elements(value)
    if not complete:
        yield Used(value, cluster, path, group)
    for position, item in enumerate(found):
        yield Used(single(item), cluster, (*path, position), group)


def subnets_of(group: Group) -> tuple[list[Any], bool, FaultPath]:
    """Return the subnets of a group's nodes, whether these are all, and where the cluster names them."""
    return _own_or_shared(group, "Subnets")


def security_groups_of(group: Group) -> tuple[list[Any], bool, FaultPath]:
    """Return the security groups of a group's nodes, whether these are all, and where they are named."""
    return _own_or_shared(group, "SecurityGroupIds")


def _own_or_shared(group: Group, member: str) -> tuple[list[Any], bool, FaultPath]:
    override = group.properties.get("OverrideVpcConfig")
    if isinstance(override, Unresolved):
        return [], False, (*group.path, "OverrideVpcConfig")
    if isinstance(override, Mapping):
        values, complete = elements(override.get(member))
        return [single(value) for value in values], complete, (*group.path, "OverrideVpcConfig", member)
    values, complete = elements(group.cluster.get("VpcConfig", member))
    return [single(value) for value in values], complete, ("VpcConfig", member)


def used_by(used: Used) -> list[Group]:
    """Return the instance groups that use a security group or subnet."""
    if used.group is not None:
        return [used.group]
    return [group for group in groups(used.cluster) if "OverrideVpcConfig" not in group.properties]


def distinct(found: list[Used]) -> Iterator[tuple[Used, list[Group]]]:
    """Yield each used thing once, with all groups that use it."""
    together: dict[Any, tuple[Used, list[Group]]] = {}
    for used in found:
        if used.value not in together:
            together[used.value] = (used, [])
        together[used.value][1].extend(used_by(used))
    yield from together.values()
