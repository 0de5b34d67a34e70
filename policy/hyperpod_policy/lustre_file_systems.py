"""FSx for Lustre file systems that the nodes of a cluster use."""

from __future__ import annotations

from typing import Any, Final

from hyperpod_policy.clusters import clusters, security_groups, subnets
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements, resources_in, same

FILE_SYSTEM: Final = "AWS::FSx::FileSystem"


def lustre_file_systems(template: Template) -> list[Resource]:
    """Return the Lustre file systems that clusters name, that share a subnet with nodes, or admit them."""
    return template.once(_lustre_file_systems)


def _lustre_file_systems(template: Template) -> list[Resource]:
    found = clusters(template)
    if not found:
        return []
    named: set[str] = set()
    for cluster in found:
        named.update(resources_in(cluster.properties))
    places = [used.value for used in (*subnets(template), *security_groups(template))]
    return [
        file_system
        for file_system in template.of_type(FILE_SYSTEM)
        if file_system.get("FileSystemType") == "LUSTRE"
        and (file_system.key in named or _shares(template, file_system, places))
    ]


def exports(template: Template, file_system: Resource) -> bool:
    """Tell whether a file system copies what is written on it to S3."""
    return file_system.get("LustreConfiguration", "ExportPath") is not None or any(
        same(association.get("FileSystemId"), file_system.ref) is True
        for association in exporting_associations(template)
    )


def exporting_associations(template: Template) -> list[Resource]:
    """Return the data repository associations that export to S3."""
    return [
        association
        for association in template.of_type("AWS::FSx::DataRepositoryAssociation")
        if association.get("S3", "AutoExportPolicy") is not None
    ]


def _shares(template: Template, file_system: Resource, places: list[Any]) -> bool:
    own = [*elements(file_system.get("SubnetIds"))[0], *elements(file_system.get("SecurityGroupIds"))[0]]
    if any(same(item, place) for item in own for place in places):
        return True
    groups = elements(file_system.get("SecurityGroupIds"))[0]
    return any(
        any(same(rule.get("GroupId"), group) for group in groups)
        and any(same(rule.get("SourceSecurityGroupId"), place) for place in places)
        for rule in template.of_type("AWS::EC2::SecurityGroupIngress")
    )
