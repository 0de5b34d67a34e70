"""Flow logs of the double: to log groups with a role, to buckets, and what keeps them from getting there."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError
from local_resources import create, delete
from told import assert_told, live

from aws_double.resource import ResourceFailure
from aws_double.session import Session

KIND = "AWS::EC2::FlowLog"
DELIVERY = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]


def _document(**statement: Any) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement}]}


@pytest.fixture
def vpc(root: Session) -> str:
    return create(root, "AWS::EC2::VPC", CidrBlock="10.0.0.0/16").physical_id


@pytest.fixture
def log_group(root: Session) -> Any:
    return create(root, "AWS::Logs::LogGroup")


def _role(root: Session, service: str = "vpc-flow-logs.amazonaws.com", **properties: Any) -> str:
    trust = _document(Action="sts:AssumeRole", Principal={"Service": service})
    arn: str = create(root, "AWS::IAM::Role", AssumeRolePolicyDocument=trust, **properties).attributes["Arn"]
    return arn


def _permissions(log_group: Any, actions: list[str]) -> dict[str, Any]:
    document = _document(Action=actions, Resource=log_group.attributes["Arn"])
    return {"Policies": [{"PolicyName": "delivery", "PolicyDocument": document}]}


def _to_logs(vpc: str, log_group: str, role: str, **properties: Any) -> dict[str, Any]:
    return {
        "ResourceType": "VPC",
        "ResourceId": vpc,
        "TrafficType": "ALL",
        "LogDestinationType": "cloud-watch-logs",
        "LogGroupName": log_group,
        "DeliverLogsPermissionArn": role,
        "MaxAggregationInterval": 60,
        **properties,
    }


def test_to_a_log_group(root: Session, vpc: str, log_group: Any) -> None:
    role = _role(root, **_permissions(log_group, DELIVERY))
    wanted = _to_logs(vpc, log_group.physical_id, role)
    live(
        root,
        KIND,
        {**wanted, "Tags": [{"Key": "Name", "Value": "flows"}]},
        {**wanted, "Tags": [{"Key": "team", "Value": "research"}]},
        wanted,
    )


def test_to_a_log_group_by_arn_and_in_a_format(root: Session, vpc: str, log_group: Any) -> None:
    role = _role(root, **_permissions(log_group, DELIVERY))
    wanted = _to_logs(vpc, "", role, LogFormat="${version} ${srcaddr} ${dstaddr}")
    del wanted["LogGroupName"]
    assert_told(root, create(root, KIND, **wanted, LogDestination=log_group.attributes["Arn"]))


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("log group", "log group nowhere does not exist"),
        ("role", "role arn:aws:iam::111122223333:role/nobody does not exist"),
        ("trust", "does not trust vpc-flow-logs.amazonaws.com"),
        ("policy", "may not logs:CreateLogStream, logs:DescribeLogStreams, logs:PutLogEvents"),
        ("action", "may not logs:PutLogEvents"),
    ],
)
def test_what_keeps_records_from_a_log_group(
    root: Session, vpc: str, log_group: Any, missing: str, message: str
) -> None:
    permissions = {} if missing == "policy" else _permissions(log_group, DELIVERY)
    if missing == "action":
        permissions = _permissions(log_group, DELIVERY[:2])
    role = _role(
        root, "ec2.amazonaws.com" if missing == "trust" else "vpc-flow-logs.amazonaws.com", **permissions
    )
    if missing == "role":
        role = "arn:aws:iam::111122223333:role/nobody"
    name = "nowhere" if missing == "log group" else log_group.physical_id
    with pytest.raises(ResourceFailure, match=f"Access error: .*{message}"):
        create(root, KIND, **_to_logs(vpc, name, role))


def _bucket(root: Session, *, writes: bool) -> Any:
    bucket = create(root, "AWS::S3::Bucket")
    arn = bucket.attributes["Arn"]
    delivery = {"Effect": "Allow", "Principal": {"Service": "delivery.logs.amazonaws.com"}}
    own = {"StringEquals": {"aws:SourceAccount": "111122223333"}}
    owned = {
        "StringEquals": {
            "aws:SourceAccount": "111122223333",
            "s3:x-amz-acl": "bucket-owner-full-control",
        },
        "ArnLike": {"aws:SourceArn": "arn:aws:logs:us-west-2:111122223333:*"},
    }
    statements = [{**delivery, "Action": "s3:GetBucketAcl", "Resource": arn, "Condition": own}]
    if writes:
        objects = f"{arn}/AWSLogs/111122223333/*"
        statements.append({**delivery, "Action": "s3:PutObject", "Resource": objects, "Condition": owned})
    create(
        root,
        "AWS::S3::BucketPolicy",
        Bucket=bucket.physical_id,
        PolicyDocument={"Version": "2012-10-17", "Statement": statements},
    )
    return bucket


def _to_bucket(vpc: str, destination: str) -> dict[str, Any]:
    return {
        "ResourceType": "VPC",
        "ResourceId": vpc,
        "TrafficType": "ALL",
        "LogDestinationType": "s3",
        "LogDestination": destination,
        "MaxAggregationInterval": 60,
    }


def test_to_a_bucket(root: Session, vpc: str) -> None:
    live(root, KIND, _to_bucket(vpc, _bucket(root, writes=True).attributes["Arn"]))


def test_to_a_bucket_whose_policy_is_not_there_yet(root: Session, vpc: str) -> None:
    bucket = _bucket(root, writes=False)
    with pytest.raises(ResourceFailure, match=f"Access Denied for LogDestination: {bucket.physical_id}"):
        create(root, KIND, **_to_bucket(vpc, bucket.attributes["Arn"]))


def test_to_a_folder_that_the_policy_does_not_cover(root: Session, vpc: str) -> None:
    bucket = _bucket(root, writes=True)
    with pytest.raises(ResourceFailure, match="Access Denied for LogDestination"):
        create(root, KIND, **_to_bucket(vpc, f"{bucket.attributes['Arn']}/flows"))


def test_to_no_bucket(root: Session, vpc: str) -> None:
    with pytest.raises(ResourceFailure, match="nowhere-at-all does not exist"):
        create(root, KIND, **_to_bucket(vpc, "arn:aws:s3:::nowhere-at-all"))


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"ResourceId": "vpc-0123456789abcdef0"}, r"InvalidVpcID\.NotFound"),
        ({"MaxAggregationInterval": 61}, "Aggregation Interval"),
        ({"DeliverLogsPermissionArn": "arn:aws:iam::111122223333:role/nobody"}, "not applicable for s3"),
    ],
)
def test_a_flow_log_that_ec2_refuses(
    root: Session, vpc: str, properties: dict[str, Any], message: str
) -> None:
    wanted = _to_bucket(vpc, _bucket(root, writes=True).attributes["Arn"])
    with pytest.raises(ClientError, match=message):
        create(root, KIND, **{**wanted, **properties})


def test_a_flow_log_says_which_traffic(root: Session, vpc: str) -> None:
    wanted = _to_bucket(vpc, _bucket(root, writes=True).attributes["Arn"])
    del wanted["TrafficType"]
    with pytest.raises(ClientError, match="TrafficType is invalid"):
        create(root, KIND, **wanted)


def test_one_that_is_gone_cannot_be_deleted(root: Session, vpc: str) -> None:
    made = create(root, KIND, **_to_bucket(vpc, _bucket(root, writes=True).attributes["Arn"]))
    with pytest.raises(ClientError, match="FlowLogAlreadyExists"):
        create(root, KIND, **made.properties)
    delete(root, made)
    with pytest.raises(ClientError, match=r"InvalidFlowLogId\.NotFound"):
        delete(root, made)
