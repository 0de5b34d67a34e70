"""Functions of AWS Lambda and their layers: each comes, changes and goes as the API tells."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
import read_back.functions  # noqa: F401
from botocore.exceptions import ClientError
from identities import a_role, trust
from local_resources import create, delete, update
from read_back import READERS
from told import assert_gone

from aws_double import usage
from aws_double.resource import ResourceFailure
from aws_double.session import Session

RED, BLUE = [{"Key": "colour", "Value": "red"}], [{"Key": "shade", "Value": "blue"}]
CODE = {"ZipFile": "def handler(event, context): pass\n"}


def test_function_and_layer(root: Session) -> None:
    role = a_role(root).attributes["Arn"]
    bucket = create(root, "AWS::S3::Bucket").physical_id
    with pytest.raises(ClientError, match="404"):
        create(root, "AWS::Lambda::LayerVersion", Content={"S3Bucket": bucket, "S3Key": "layer.zip"})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("bin/tool", "x")
    root.client("s3").put_object(Bucket=bucket, Key="layer.zip", Body=packed.getvalue())
    layer = create(
        root,
        "AWS::Lambda::LayerVersion",
        Content={"S3Bucket": bucket, "S3Key": "layer.zip"},
        Description="a tool",
        LicenseInfo="Apache-2.0",
    )
    told = READERS[layer.type](root, layer.physical_id, {})
    assert told == {"Description": "a tool", "LicenseInfo": "Apache-2.0"}
    common = {"Role": role, "Runtime": "python3.14", "Handler": "index.handler"}
    first = create(root, "AWS::Lambda::Function", Code=CODE, **common)
    told = READERS[first.type](root, first.physical_id, first.properties)
    assert common.items() <= told.items()
    settings = {
        "Architectures": ["arm64"],
        "Description": "closes a group",
        "Environment": {"Variables": {"A": "b"}},
        "Layers": [layer.physical_id],
        "LoggingConfig": {"LogFormat": "JSON", "LogGroup": "closes"},
        "MemorySize": 256,
        "Timeout": 60,
        "Tags": RED,
    }
    changed = update(root, first, Code=CODE, **common, **settings)
    told = READERS[first.type](root, first.physical_id, changed.properties)
    wanted = common | settings
    assert {name: told.get(name) for name in wanted} == wanted
    with pytest.raises(ResourceFailure, match="MemorySize, Timeout cannot be taken away"):
        update(root, changed, Code=CODE, **common)
    for made in (changed, layer):
        delete(root, made)
        assert_gone(root, made)


def test_function_holds_its_network(root: Session) -> None:
    may_make_interfaces = "arn:aws:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole"
    role = a_role(root, ManagedPolicyArns=[may_make_interfaces]).attributes["Arn"]
    vpc = create(root, "AWS::EC2::VPC", CidrBlock="10.0.0.0/16").physical_id
    subnet = create(
        root, "AWS::EC2::Subnet", VpcId=vpc, CidrBlock="10.0.0.0/24", AvailabilityZoneId="usw2-az2"
    ).physical_id
    group = create(root, "AWS::EC2::SecurityGroup", GroupDescription="x", VpcId=vpc).attributes["GroupId"]
    made = create(
        root,
        "AWS::Lambda::Function",
        Code=CODE,
        Role=role,
        Runtime="python3.14",
        Handler="index.handler",
        VpcConfig={"SubnetIds": [subnet], "SecurityGroupIds": [group]},
    )
    assert usage.holders(subnet) == usage.holders(group) == [made.attributes["Arn"]]
    assert READERS[made.type](root, made.physical_id, made.properties)["VpcConfig"] == {
        "SubnetIds": [subnet],
        "SecurityGroupIds": [group],
    }
    delete(root, made)
    assert usage.holders(subnet) == []


@pytest.mark.parametrize(
    ("service", "network", "message"),
    [
        ("sagemaker.amazonaws.com", {}, "cannot be assumed by Lambda"),
        ("lambda.amazonaws.com", {"SubnetIds": ["subnet-1"]}, "permissions to call CreateNetworkInterface"),
    ],
)
def test_role_of_a_function(root: Session, service: str, network: dict[str, Any], message: str) -> None:
    role = a_role(root, AssumeRolePolicyDocument=trust(service)).attributes["Arn"]
    with pytest.raises(ClientError, match=message):
        create(
            root,
            "AWS::Lambda::Function",
            Code=CODE,
            Role=role,
            Runtime="python3.14",
            Handler="index.handler",
            VpcConfig=network,
        )


def test_inline_code_is_python(root: Session) -> None:
    with pytest.raises(ResourceFailure, match=r"nodejs22\.x in this double: Python only"):
        create(root, "AWS::Lambda::Function", Code=CODE, Runtime="nodejs22.x", Role="r", Handler="h.h")


def test_permission_of_a_function(root: Session) -> None:
    function = create(
        root,
        "AWS::Lambda::Function",
        Code=CODE,
        Runtime="python3.14",
        Role=a_role(root).attributes["Arn"],
        Handler="index.handler",
    )
    made = create(
        root,
        "AWS::Lambda::Permission",
        Action="lambda:InvokeFunction",
        FunctionName=function.physical_id,
        Principal="s3.amazonaws.com",
        SourceAccount="111122223333",
    )
    policy = root.client("lambda").get_policy(FunctionName=function.physical_id)["Policy"]
    assert "s3.amazonaws.com" in policy
    delete(root, made)
    with pytest.raises(ClientError, match="ResourceNotFound"):
        root.client("lambda").get_policy(FunctionName=function.physical_id)
