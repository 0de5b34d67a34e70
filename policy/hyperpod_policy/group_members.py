"""What is put into the security groups of nodes and may run the code of somebody else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_model.faults import FaultPath
from hyperpod_policy.template import Resource, Template
from hyperpod_policy.values import elements, same

_EACH: Final = "*"

# File systems, databases and endpoints run nobody's code but that of AWS, so they are not here.
_PLACES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("AWS::AutoScaling::LaunchConfiguration", ("SecurityGroups",)),
    ("AWS::Batch::ComputeEnvironment", ("ComputeResources", "SecurityGroupIds")),
    ("AWS::CodeBuild::Project", ("VpcConfig", "SecurityGroupIds")),
    ("AWS::EC2::ClientVpnEndpoint", ("SecurityGroupIds",)),
    ("AWS::EC2::Instance", ("SecurityGroupIds",)),
    ("AWS::EC2::Instance", ("NetworkInterfaces", _EACH, "GroupSet")),
    ("AWS::EC2::LaunchTemplate", ("LaunchTemplateData", "SecurityGroupIds")),
    ("AWS::EC2::LaunchTemplate", ("LaunchTemplateData", "NetworkInterfaces", _EACH, "Groups")),
    ("AWS::EC2::NetworkInterface", ("GroupSet",)),
    ("AWS::ECS::Service", ("NetworkConfiguration", "AwsvpcConfiguration", "SecurityGroups")),
    ("AWS::ElasticLoadBalancing::LoadBalancer", ("SecurityGroups",)),
    ("AWS::ElasticLoadBalancingV2::LoadBalancer", ("SecurityGroups",)),
    ("AWS::Glue::Connection", ("ConnectionInput", "PhysicalConnectionRequirements", "SecurityGroupIdList")),
    ("AWS::Lambda::Function", ("VpcConfig", "SecurityGroupIds")),
    ("AWS::SageMaker::Domain", ("DefaultUserSettings", "SecurityGroups")),
    ("AWS::SageMaker::Model", ("VpcConfig", "SecurityGroupIds")),
    ("AWS::SageMaker::NotebookInstance", ("SecurityGroupIds",)),
    ("AWS::SageMaker::UserProfile", ("UserSettings", "SecurityGroups")),
)


def members_of(template: Template, group: Any) -> Iterator[tuple[Resource, FaultPath]]:
    """Yield what the template puts into a security group beside nodes, each with the property that does.

    Args:
        template: Template under review.
        group: The group as resolved.
    """
    for kind, steps in _PLACES:
        for resource in template.of_type(kind):
            for path, listed in _listed(resource.properties, steps):
                for position, member in enumerate(elements(listed)[0]):
                    if same(member, group) is True:
                        yield resource, (*path, position) if isinstance(listed, list) else path


def _listed(value: Any, steps: tuple[str, ...], path: FaultPath = ()) -> Iterator[tuple[FaultPath, Any]]:
    if not steps:
        yield path, value
    elif steps[0] == _EACH:
        for position, item in enumerate(elements(value)[0]):
            yield from _listed(item, steps[1:], (*path, position))
    elif isinstance(value, Mapping) and steps[0] in value:
        yield from _listed(value[steps[0]], steps[1:], (*path, steps[0]))
