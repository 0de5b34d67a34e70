"""Reads the network of templates that are reviewed together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_policy.clusters import clusters
from hyperpod_policy.documents import Document
from hyperpod_policy.eks_clusters import foreign_control_planes
from hyperpod_policy.reports.html.network.members import members
from hyperpod_policy.reports.html.network.model import Network
from hyperpod_policy.reports.html.network.places import places
from hyperpod_policy.reports.html.network.reach import admissions, guards
from hyperpod_policy.reports.html.network.words import spoken
from hyperpod_policy.template import Template


def network_of(documents: Sequence[Document]) -> Network | None:
    """Return the network around clusters; ``None`` if there is no cluster.

    What parameters and conditions leave open has its default.

    Args:
        documents: Templates that are reviewed together.
    """
    template = Template(documents)
    if not clusters(template):
        return None
    found = members(template)
    vpcs = places(template, found)
    drawn = {subnet.key for vpc in vpcs for zone in vpc.zones for subnet in zone.subnets}
    inside = tuple(member for member in found if drawn.intersection(member.subnets) or member.kind == "nodes")
    groups = guards(template, inside)
    sources, admitted = admissions(template, groups, vpcs)
    return Network(vpcs, inside, groups, sources, admitted, tuple(_notes(template)))


def _notes(template: Template) -> Iterator[str]:
    yield "Access lists and routes are not counted here: they can only take away from what is shown."
    for cluster in clusters(template):
        if cluster.get("VpcConfig") is None:
            yield f"{cluster.logical_id} names no VPC: its nodes run in a network of the service."
    for found in foreign_control_planes(template):
        yield f"The EKS cluster {spoken(found.arn)} is not in the templates, nor is its network."
    open_choices = [choice for choice in template.world.asked.values() if len(choice.options) > 1]
    if open_choices:
        shown = ", ".join(f"{choice.label} is {_written(choice.options[0])}" for choice in open_choices)
        yield f"Drawn for one case of several: {shown}."


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
