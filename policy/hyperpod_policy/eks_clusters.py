"""EKS clusters that orchestrate HyperPod clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_policy.clusters import clusters, orchestrator
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import Reference, Text, elements, same, single

EKS_CLUSTER: Final = "AWS::EKS::Cluster"

_ARN: Final = ("Orchestrator", "Eks", "ClusterArn")
_NETWORK: Final = "ResourcesVpcConfig"


@dataclass(frozen=True, slots=True)
class Orchestration:
    """A HyperPod cluster and the EKS cluster that it names.

    Attributes:
        cluster: The HyperPod cluster.
        arn: ARN of the EKS cluster, as resolved.
        control_plane: The EKS cluster, if the template makes it.
    """

    cluster: Resource
    arn: Any
    control_plane: Resource | None

    @property
    def path(self) -> tuple[str, ...]:
        """Where the HyperPod cluster names the EKS cluster."""
        return _ARN


def orchestrations(template: Template) -> list[Orchestration]:
    """Return the HyperPod clusters that an EKS cluster orchestrates."""
    return template.once(_orchestrations)


def control_planes(template: Template) -> Iterator[Resource]:
    """Yield the EKS clusters of the template that orchestrate HyperPod clusters, each once."""
    seen: set[str] = set()
    for found in orchestrations(template):
        if found.control_plane is not None and found.control_plane.key not in seen:
            seen.add(found.control_plane.key)
            yield found.control_plane


def foreign_control_planes(template: Template) -> Iterator[Orchestration]:
    """Yield what names an EKS cluster that the template does not make."""
    for found in orchestrations(template):
        if found.control_plane is None:
            yield found


def control_plane_groups(control_plane: Resource) -> list[Any]:
    """Return the security groups of the control plane's network interfaces: EKS's own, then those given."""
    given, _ = elements(control_plane.get(_NETWORK, "SecurityGroupIds"))
    return [Reference(control_plane.key, "ClusterSecurityGroupId"), *map(single, given)]


def _orchestrations(template: Template) -> list[Orchestration]:
    found = []
    for cluster in clusters(template):
        if orchestrator(cluster) == "eks":
            arn = single(cluster.get(*_ARN))
            found.append(Orchestration(cluster, arn, _control_plane(template, arn)))
    return found


def _control_plane(template: Template, arn: Any) -> Resource | None:
    direct = template.resource(arn, EKS_CLUSTER)
    if direct is not None:
        return direct
    name = _name_in(arn)
    for control_plane in template.of_type(EKS_CLUSTER):
        if name is not None and (name == control_plane.ref or same(name, control_plane.get("Name")) is True):
            return control_plane
    return None


def _name_in(arn: Any) -> Any:
    """Return what follows ``cluster/`` in an ARN that is put together."""
    if not isinstance(arn, Text):
        return None
    *_, before, last = ("", *arn.parts)
    if isinstance(last, str):
        return last.rpartition("cluster/")[2] if "cluster/" in last else None
    return last if isinstance(before, str) and before.endswith("cluster/") else None
