"""What the double's types of storage, identity and functions have in common."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import read_back.functions
import read_back.iam
import read_back.kms
import read_back.logs
import read_back.parameters
import read_back.registries
import read_back.s3  # noqa: F401
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from identities import ROOT_ARN, allow, document, trust
from local_resources import create, resource
from read_back import READERS
from told import live

from aws_double.resource import TYPES
from aws_double.session import Session

LIFECYCLE_RULE = {
    "rulePriority": 1,
    "description": "expire images without a tag",
    "selection": {
        "tagStatus": "untagged",
        "countType": "sinceImagePushed",
        "countUnit": "days",
        "countNumber": 365,
    },
    "action": {"type": "expire"},
}
SERVICES = ("ECR", "IAM", "KMS", "Lambda", "Logs", "S3", "SSM")


def types() -> list[str]:
    import aws_double.resources  # noqa: F401

    return sorted(
        name for name in TYPES if name.startswith(tuple(f"AWS::{service}::" for service in SERVICES))
    )


def test_properties_are_those_of_cloudformation(endpoint: str) -> None:
    assert len(types()) == 16
    for name in types():
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-west-2", name).schema
        assert TYPES[name].properties <= set(schema["properties"]), name
        read_only = {path.split("/")[-1] for path in schema.get("createOnlyProperties", [])}
        assert not TYPES[name].updatable & read_only, name


def test_every_type_can_be_read_back(endpoint: str) -> None:
    assert set(types()) - set(READERS) == {"AWS::Lambda::Permission"}


def test_parameter(root: Session) -> None:
    live(
        root,
        "AWS::SSM::Parameter",
        {"Type": "String", "Value": "1", "Name": "/team/version"},
        {"Type": "String", "Value": "2", "Name": "/team/version", "Description": "of the team"},
    )
    made = create(root, "AWS::SSM::Parameter", Type="String", Value="ready")
    assert made.attributes == {"Type": "String", "Value": "ready"}


def test_repository(root: Session) -> None:
    rules = {"LifecyclePolicyText": json.dumps({"rules": [LIFECYCLE_RULE]})}
    policy = document(allow("ecr:BatchGetImage", Principal={"AWS": ROOT_ARN}))
    live(
        root,
        "AWS::ECR::Repository",
        {"RepositoryName": "images"},
        {
            "RepositoryName": "images",
            "ImageTagMutability": "IMMUTABLE",
            "LifecyclePolicy": rules,
            "RepositoryPolicyText": policy,
        },
    )


@pytest.mark.parametrize(
    ("kind", "properties", "length", "pattern"),
    [
        ("AWS::S3::Bucket", {}, 63, "team-thing-[a-z0-9]{12}"),
        ("AWS::IAM::Role", {"AssumeRolePolicyDocument": trust()}, 64, "team-Thing-[A-Z0-9]{12}"),
        ("AWS::Logs::LogGroup", {}, 512, "team-Thing-[A-Z0-9]{12}"),
    ],
)
def test_physical_names(
    root: Session, kind: str, properties: dict[str, Any], length: int, pattern: str
) -> None:

    short = create(root, kind, **properties)
    assert re.fullmatch(pattern, short.physical_id)
    long = resource(kind, "Thing" * 60, **properties)
    long.stack_name = "team" * 30
    TYPES[kind].create(long, root)
    assert len(long.physical_id) <= length
    assert long.physical_id.lower().startswith("team")
