"""Reads a template and refuses what this double of CloudFormation does not know."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from aws_double.cloudformation.errors import InsufficientCapabilities, Refused, not_covered
from aws_double.cloudformation.intrinsics import LANGUAGE_EXTENSIONS
from aws_double.resource import TYPES

SECTIONS: Final = frozenset(
    {
        "AWSTemplateFormatVersion",
        "Conditions",
        "Description",
        "Mappings",
        "Metadata",
        "Outputs",
        "Parameters",
        "Resources",
        "Rules",
        "Transform",
    }
)
RESOURCE_ATTRIBUTES: Final = frozenset(
    ["Condition", "DeletionPolicy", "DependsOn", "Metadata", "Properties", "Type", "UpdateReplacePolicy"]
)
DELETION_POLICIES: Final = ("Delete", "Retain", "RetainExceptOnCreate", "Snapshot")

_IAM_NAMES: Final = {
    "AWS::IAM::AccessKey": None,
    "AWS::IAM::Group": "GroupName",
    "AWS::IAM::InstanceProfile": "InstanceProfileName",
    "AWS::IAM::ManagedPolicy": "ManagedPolicyName",
    "AWS::IAM::Policy": None,
    "AWS::IAM::Role": "RoleName",
    "AWS::IAM::User": "UserName",
    "AWS::IAM::UserToGroupAddition": None,
}
"""Types that need a capability, with the property that gives them a name of one's own."""


class _Loader(yaml.SafeLoader):
    """YAML as CloudFormation reads it: short forms of functions, and dates stay text."""


def _short_form(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    elif isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    else:
        raise Refused(f"Template format error: !{suffix} has no argument")
    return {suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _short_form)
_Loader.yaml_implicit_resolvers = {
    start: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for start, resolvers in _Loader.yaml_implicit_resolvers.items()
}


class Template:
    """A template that this double can deploy.

    Args:
        source: Its text, JSON or YAML.

    Raises:
        Refused: If it is none, or has what the double does not know.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.body = _parsed(source)
        self._check()

    @property
    def resources(self) -> dict[str, dict[str, Any]]:
        """Its resources by logical id, whether their conditions hold or not."""
        found: dict[str, dict[str, Any]] = self.body["Resources"]
        return found

    @property
    def description(self) -> str | None:
        """What it says it is."""
        return self.body.get("Description")

    def section(self, name: str) -> dict[str, Any]:
        """Return a section; an empty one if it is missing."""
        found: dict[str, Any] = self.body.get(name, {})
        return found

    def capabilities(self) -> list[str]:
        """Return the capabilities that a request has to allow."""
        needed = set()
        for resource in self.resources.values():
            if resource["Type"] in _IAM_NAMES:
                name = _IAM_NAMES[resource["Type"]]
                named = name is not None and name in resource.get("Properties", {})
                needed.add("CAPABILITY_NAMED_IAM" if named else "CAPABILITY_IAM")
        if "CAPABILITY_NAMED_IAM" in needed:
            needed.discard("CAPABILITY_IAM")
        if "Transform" in self.body:
            needed.add("CAPABILITY_AUTO_EXPAND")
        return sorted(needed)

    def check_capabilities(self, given: Iterable[str]) -> None:
        """Refuse to do more than a request allows.

        Raises:
            InsufficientCapabilities: With the capabilities that are missing.
        """
        allowed = set(given)
        if "CAPABILITY_NAMED_IAM" in allowed:
            allowed.add("CAPABILITY_IAM")
        missing = [one for one in self.capabilities() if one not in allowed]
        if missing:
            raise InsufficientCapabilities(f"Requires capabilities : [{', '.join(missing)}]")

    def _check(self) -> None:
        unknown = sorted(set(self.body) - SECTIONS)
        if unknown:
            raise Refused(f"Invalid template property or properties [{', '.join(unknown)}]")
        resources = self.body.get("Resources")
        if not isinstance(resources, dict) or not resources:
            raise Refused("Template format error: At least one Resources member must be defined.")
        transforms = self.body.get("Transform", [])
        others = {*([transforms] if isinstance(transforms, str) else transforms)} - {LANGUAGE_EXTENSIONS}
        if others:
            raise not_covered(f"transform {', '.join(sorted(others))}")
        for logical_id, resource in resources.items():
            _check_resource(logical_id, resource)
            missing = [one for one in depends_on(resource) if one not in resources]
            if missing:
                raise Refused(
                    "Template format error: Unresolved resource dependencies "
                    f"[{', '.join(missing)}] in the Resources block of the template"
                )
        types = {resource["Type"] for resource in resources.values()}
        unknown = sorted(name for name in types if name not in TYPES)
        if unknown:
            raise Refused(f"Template format error: Unrecognized resource types: [{', '.join(unknown)}]")


def depends_on(resource: Mapping[str, Any]) -> list[str]:
    """Return what a resource says it depends on, beside what it refers to."""
    given = resource.get("DependsOn", [])
    return [given] if isinstance(given, str) else list(given)


def _parsed(source: str) -> dict[str, Any]:
    try:
        body = json.loads(source) if source.lstrip().startswith("{") else yaml.load(source, _Loader)
    except (ValueError, yaml.YAMLError) as error:
        raise Refused(f"Template format error: {error}") from error
    if not isinstance(body, dict):
        raise Refused("Template format error: unsupported structure.")
    return body


def _check_resource(logical_id: str, resource: Any) -> None:
    if not isinstance(resource, dict) or not isinstance(resource.get("Type"), str):
        raise Refused(f"Template format error: [/Resources/{logical_id}] has no Type.")
    unknown = sorted(set(resource) - RESOURCE_ATTRIBUTES)
    if unknown:
        raise not_covered(f"resource attribute {', '.join(unknown)} of {logical_id}")
    for attribute in ("DeletionPolicy", "UpdateReplacePolicy"):
        policy = resource.get(attribute, "Delete")
        if policy not in DELETION_POLICIES:
            raise Refused(
                f"Template format error: Unrecognized {attribute} {policy} for resource {logical_id}; "
                f"allowed: {', '.join(DELETION_POLICIES)}"
            )
