"""EKS add-ons beside HyperPod clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_model.catalog.cluster_rules import training_operator_tag
from hyperpod_policy.eks_clusters import Orchestration, orchestrations
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import same

ADD_ON: Final = "AWS::EKS::Addon"
TRAINING_OPERATOR: Final = training_operator_tag()["add_on"]


@dataclass(frozen=True, slots=True)
class AddOns:
    """The add-ons of the EKS cluster that orchestrates a HyperPod cluster.

    Attributes:
        orchestration: The HyperPod cluster and its EKS cluster.
        by_name: Each add-on by its name, as far as names are known.
    """

    orchestration: Orchestration
    by_name: Mapping[str, Resource]


def all_add_ons(template: Template) -> Iterator[AddOns]:
    """Yield the add-ons of each HyperPod cluster with EKS."""
    for found in orchestrations(template):
        by_name = {
            add_on.get("AddonName"): add_on
            for add_on in template.of_type(ADD_ON)
            if isinstance(add_on.get("AddonName"), str)
            and names_control_plane(found, add_on.get("ClusterName"))
        }
        yield AddOns(found, by_name)


def names_control_plane(orchestration: Orchestration, name: Any) -> bool:
    """Tell whether a name is, or may be, that of the EKS cluster of a HyperPod cluster."""
    control_plane = orchestration.control_plane
    if control_plane is None:
        return True  # another stack's: nothing here tells that it is a third one
    return (
        name == control_plane.ref or same(name, control_plane.get("Name", default=control_plane.ref)) is True
    )
