"""The CloudFormation types around HyperPod in the double agree with the registry."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
import read_back
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER, ResourceNotFoundError
from read_back import READERS

from aws_double import resources
from aws_double.resource import TYPES

for _package in (resources, read_back):
    for _module in pkgutil.iter_modules(_package.__path__, f"{_package.__name__}."):
        importlib.import_module(_module.name)

NAMES = sorted(name for name in TYPES if name.split("::")[1] in ("SageMaker", "FSx", "EKS"))

UNLISTED = ("AWS::SageMaker::ClusterSchedulerConfig",)
"""Types for which cfn-lint brings no schema of the registry."""
LISTED = [name for name in NAMES if name not in UNLISTED]


def test_there_are_the_types_of_our_templates() -> None:
    assert NAMES == [
        "AWS::EKS::AccessEntry",
        "AWS::EKS::Addon",
        "AWS::EKS::Cluster",
        "AWS::EKS::PodIdentityAssociation",
        "AWS::FSx::DataRepositoryAssociation",
        "AWS::FSx::FileSystem",
        "AWS::SageMaker::Cluster",
        "AWS::SageMaker::ClusterSchedulerConfig",
        "AWS::SageMaker::ComputeQuota",
    ]


@pytest.mark.parametrize("name", LISTED)
def test_each_type_knows_properties_of_the_registry_only_and_can_be_read_back(name: str) -> None:
    registered = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-west-2", name).schema
    read_only = {path.removeprefix("/properties/") for path in registered["readOnlyProperties"]}
    assert TYPES[name].properties <= registered["properties"].keys() - read_only
    assert name in READERS


@pytest.mark.parametrize("name", LISTED)
def test_each_type_is_replaced_for_what_the_registry_says(name: str) -> None:
    kind = TYPES[name]
    registered = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-west-2", name).schema
    fixed = {tuple(path.split("/")[2:]) for path in registered["createOnlyProperties"]}

    def replaces(*path: str) -> bool:
        before, after = "before", "after"
        for step in reversed(path):
            before, after = {step: before}, {step: after}
        return kind.replaces(before, after)

    for path in fixed:
        if path[0] in kind.properties:
            assert replaces(*path), path
    for property_name in kind.properties - {path[0] for path in fixed}:
        assert not replaces(property_name), property_name


@pytest.mark.parametrize("name", UNLISTED)
def test_a_type_that_the_registry_of_the_linter_lacks_can_be_read_back(name: str) -> None:
    assert name in READERS
    with pytest.raises(ResourceNotFoundError):
        PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-west-2", name)
