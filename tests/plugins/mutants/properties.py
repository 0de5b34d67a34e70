"""Weakenings of any property: gone, emptied, flipped, another of its kind, shorter, or somebody else's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mutants.mutant import GONE, Mutant, Path, Template, at, mutant
from mutants.principals import ANOTHER_ACCOUNT
from mutants.references import named_in
from mutants.schemas import is_required, may_be_empty, values_allowed

_POLICIES = ("PolicyDocument", "AssumeRolePolicyDocument", "KeyPolicy")

_SOMEBODY_ELSES: Mapping[str, Any] = {
    "AWS::EC2::SecurityGroup": "sg-0123456789abcdef0",
    "AWS::EC2::Subnet": "subnet-0123456789abcdef0",
    "AWS::EC2::VPC": "vpc-0123456789abcdef0",
    "AWS::EC2::RouteTable": "rtb-0123456789abcdef0",
    "AWS::EC2::NetworkAcl": "acl-0123456789abcdef0",
    "AWS::KMS::Key": f"arn:aws:kms:us-west-2:{ANOTHER_ACCOUNT}:key/12345678-1234-1234-1234-123456789012",
    "AWS::IAM::Role": f"arn:aws:iam::{ANOTHER_ACCOUNT}:role/somebody",
    "AWS::EKS::Cluster": f"arn:aws:eks:us-west-2:{ANOTHER_ACCOUNT}:cluster/somebodys",
    "AWS::Lambda::Function": f"arn:aws:lambda:us-west-2:{ANOTHER_ACCOUNT}:function:somebodys",
    "AWS::Logs::LogGroup": "somebodys-log-group",
    "AWS::FSx::FileSystem": "fs-0123456789abcdef0",
    "AWS::Lambda::LayerVersion": f"arn:aws:lambda:us-west-2:{ANOTHER_ACCOUNT}:layer:somebodys:1",
}
_BUCKET = "somebodys-bucket"

_LONG = 12
"""Longer enumerations, such as the runtimes of functions, are of kinds, not of degrees of safety."""

_RULES_OF_THEIR_OWN = ("SecurityGroupIngress", "SecurityGroupEgress")
"""Properties, and types, that only the generator for security groups changes inside."""

_OTHER_WORDS: Mapping[tuple[str, str], list[Any]] = {
    ("AWS::EC2::Subnet", "AvailabilityZoneId"): ["usw2-az3"],
    ("AWS::EC2::Subnet", "CidrBlock"): ["10.0.128.0/28"],
    ("AWS::EKS::Cluster", "Version"): ["1.29"],
    ("AWS::FSx::FileSystem", "FileSystemTypeVersion"): ["2.12"],
    ("AWS::SageMaker::Cluster", "InstanceType"): ["ml.t3.medium"],
    ("AWS::EKS::PodIdentityAssociation", "Namespace"): ["default"],
    ("AWS::EKS::PodIdentityAssociation", "ServiceAccount"): ["default"],
    ("AWS::EC2::Route", "DestinationCidrBlock"): ["10.0.0.0/8"],
    ("AWS::KMS::Key", "KeySpec"): ["RSA_2048"],
}
"""Values of properties that the registry gives no enumeration for."""


def property_mutants(template: Template, name: str) -> Iterator[Mutant]:
    """Every weakening of the properties of a resource, apart from its policies."""
    resource = template["Resources"][name]
    if resource["Type"].endswith(_RULES_OF_THEIR_OWN):
        return
    for path, value in _places(resource.get("Properties", {}), ()):
        yield from _gone(template, name, path, value)
        yield from _relaxed(template, name, path, value)


def _places(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if path:
        yield path, value
    if isinstance(value, Mapping) and not _is_intrinsic(value):
        for key, item in value.items():
            if key not in _POLICIES:
                yield from _places(item, (*path, key))
            else:
                yield (*path, key), item
    elif isinstance(value, list):
        for position, item in enumerate(value):
            if path[-1] in _RULES_OF_THEIR_OWN:
                yield (*path, position), item
            else:
                yield from _places(item, (*path, position))


def _is_intrinsic(value: Any) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and next(iter(value)).startswith(("Ref", "Fn::"))


def _gone(template: Template, name: str, path: Path, value: Any) -> Iterator[Mutant]:
    kind = template["Resources"][name]["Type"]
    if not is_required(kind, path) and not _is_the_last_one(template, name, path):
        yield mutant(template, name, path, "is gone", GONE)
    if isinstance(value, list) and len(value) > 1 and may_be_empty(kind, path):
        yield mutant(template, name, path, "is emptied", [])


def _is_the_last_one(template: Template, name: str, path: Path) -> bool:
    """Whether it is the only element of a list that must have one."""
    if not isinstance(path[-1], int):
        return False
    resource = template["Resources"][name]
    listed = at(resource["Properties"], path[:-1])
    return len(listed) == 1 and not may_be_empty(resource["Type"], path[:-1])


def _relaxed(template: Template, name: str, path: Path, value: Any) -> Iterator[Mutant]:
    kind = template["Resources"][name]["Type"]
    others: list[Any] = []
    if isinstance(value, bool):
        others = [not value]
    elif value in ("true", "false"):
        others = ["false" if value == "true" else "true"]
    elif isinstance(value, int | str) and values_allowed(kind, path):
        allowed = values_allowed(kind, path)
        others = [other for other in allowed if type(other) is type(value) and other != value]
        if isinstance(value, int):
            others = [min(others)]
        elif len(others) > _LONG:
            others = []
    elif isinstance(value, int):
        others = [number for number in (0, 1) if number < value]
    elif isinstance(value, str):
        members = [step for step in path if isinstance(step, str)]
        others = [other for other in _OTHER_WORDS.get((kind, members[-1]), ()) if other != value]
    elif _is_intrinsic(value):
        others = [*_somebody_elses(template, value)]
    for other in others:
        yield mutant(template, name, path, f"becomes {other}", other)


def _somebody_elses(template: Template, value: Mapping[str, Any]) -> Iterator[Any]:
    """What stands for something of another stack or account in place of a reference."""
    resources = template["Resources"]
    if "Ref" in value or "Fn::GetAtt" in value:
        (name,) = named_in(value)
        kind = resources.get(name, {}).get("Type")
        if kind == "AWS::S3::Bucket":
            yield _BUCKET if "Ref" in value else f"arn:aws:s3:::{_BUCKET}"
        elif kind in _SOMEBODY_ELSES:
            yield _SOMEBODY_ELSES[kind]
    elif "Fn::Join" in value and isinstance(value["Fn::Join"][1], list):
        delimiter, parts = value["Fn::Join"]
        kinds = [resources.get(name, {}).get("Type") for name in named_in(parts)]
        if "AWS::S3::Bucket" in kinds:
            buckets = [_BUCKET if _is_bucket(resources, part) else part for part in parts]
            yield {"Fn::Join": [delimiter, buckets]}
    elif "Fn::Sub" in value and "cdk-" in str(value["Fn::Sub"]):
        yield _BUCKET


def _is_bucket(resources: Mapping[str, Any], part: Any) -> bool:
    return any(resources.get(name, {}).get("Type") == "AWS::S3::Bucket" for name in named_in(part))
