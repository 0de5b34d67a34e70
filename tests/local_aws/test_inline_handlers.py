"""Custom resources with a handler in the template: it runs, as its function's role."""

from __future__ import annotations

import inspect
from importlib.resources import files
from typing import Any

import pytest
from identities import a_role, allow
from local_resources import create, delete, resource, update

from aws_double import handlers
from aws_double.handler_process import cfnresponse
from aws_double.resource import TYPES, Resource, ResourceFailure
from aws_double.session import Session

ECHO = """
import boto3, cfnresponse, json

def handler(event, context):
    assert context.get_remaining_time_in_millis() > 1000
    data = {"Event": event, "Caller": boto3.client("sts").get_caller_identity()["Arn"]}
    cfnresponse.send(event, context, cfnresponse.SUCCESS, data, event["ResourceProperties"]["Id"])
"""
FAILS = """
import cfnresponse

def handler(event, context):
    cfnresponse.send(event, context, cfnresponse.FAILED, {}, "it", reason="no room")
"""
NEVER_ANSWERS = """
def handler(event, context):
    raise RuntimeError("not yet")
"""
SECOND_TIME = """
import cfnresponse, os, pathlib

def handler(event, context):
    mark = pathlib.Path(event["ResponseURL"]).parent / "ran"
    if not mark.exists():
        mark.touch()
        raise RuntimeError("not yet")
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, "it")
"""


def function(session: Session, code: str, **properties: Any) -> Resource:
    role = a_role(session, allow("sts:GetCallerIdentity"), logical_id="HandlerRole")
    defaults = {
        "Code": {"ZipFile": code},
        "Handler": "index.handler",
        "Role": role.attributes["Arn"],
        "Runtime": "python3.14",
        "Timeout": 60,
    }
    return create(session, "AWS::Lambda::Function", "Handler", **{**defaults, **properties})


def custom(session: Session, code: str, **properties: Any) -> Resource:
    token = function(session, code).attributes["Arn"]
    return create(session, "Custom::FinalBackup", ServiceToken=token, **properties)


def test_handler_gets_the_event_of_cloudformation_and_is_its_role(root: Session) -> None:
    made = custom(root, ECHO, Id="one", Count=2, Flag=True, Nested=[{"A": 1}])
    event, caller = made.attributes["Event"], made.attributes["Caller"]
    assert made.physical_id == "one"
    assert ":assumed-role/team-HandlerRole-" in caller
    assert event["RequestType"] == "Create"
    assert event["ResourceType"] == "Custom::FinalBackup"
    assert (event["StackId"], event["LogicalResourceId"]) == (made.stack_id, "Thing")
    assert event["ResourceProperties"] == {
        "ServiceToken": made.properties["ServiceToken"],
        "Id": "one",
        "Count": "2",
        "Flag": "true",
        "Nested": [{"A": "1"}],
    }
    assert "PhysicalResourceId" not in event
    changed = update(root, made, **{**made.properties, "Count": 3})
    event = changed.attributes["Event"]
    assert (event["RequestType"], event["PhysicalResourceId"]) == ("Update", "one")
    assert event["OldResourceProperties"]["Count"] == "2"
    assert event["ResourceProperties"]["Count"] == "3"
    replaced = update(root, changed, **{**made.properties, "Id": "two"})
    assert replaced.physical_id == "two"
    delete(root, replaced)


def test_other_handler_is_another_resource(root: Session) -> None:
    made = custom(root, ECHO, Id="one")
    other = {**made.properties, "ServiceToken": function(root, ECHO).attributes["Arn"]}
    assert TYPES[made.type].replaces(made.properties, other)
    assert not TYPES[made.type].replaces(made.properties, {**made.properties, "Id": "two"})


def test_failure_has_the_handlers_reason(root: Session) -> None:
    with pytest.raises(ResourceFailure, match=r"status \[FAILED\].*no room"):
        custom(root, FAILS)


def test_handler_that_never_answers(root: Session) -> None:
    with pytest.raises(
        ResourceFailure, match=r"(?s)did not receive a response.*3 times.*RuntimeError: not yet"
    ):
        custom(root, NEVER_ANSWERS)


def test_run_ends_with_the_functions_timeout(root: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handlers, "_RUNS", 1)
    monkeypatch.setattr(handlers, "_STARTING_SECONDS", 0)
    code = "import time\n\ndef handler(event, context):\n    time.sleep(60)\n"
    token = function(root, code, Timeout=1).attributes["Arn"]
    with pytest.raises(ResourceFailure, match="Task timed out after 1 seconds"):
        create(root, "Custom::FinalBackup", ServiceToken=token)


def test_event_comes_again_after_a_failed_run(root: Session) -> None:
    assert custom(root, SECOND_TIME).physical_id == "it"


def test_handler_must_be_python_and_exist(root: Session) -> None:
    bucket = create(root, "AWS::S3::Bucket").physical_id
    root.client("s3").put_object(Bucket=bucket, Key="code.zip", Body=b"")
    node = function(root, "", Runtime="nodejs22.x", Code={"S3Bucket": bucket, "S3Key": "code.zip"})
    with pytest.raises(ResourceFailure, match=r"Python handlers only, got nodejs22\.x"):
        create(root, "Custom::FinalBackup", ServiceToken=node.attributes["Arn"])
    with pytest.raises(Exception, match="ResourceNotFound"):
        create(root, "Custom::FinalBackup", ServiceToken=f"{node.attributes['Arn']}-missing")


def test_answer_has_the_arguments_of_the_real_module() -> None:
    """https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-lambda-function-code-cfnresponsemodule.html"""
    assert list(inspect.signature(cfnresponse.send).parameters) == [
        "event",
        "context",
        "responseStatus",
        "responseData",
        "physicalResourceId",
        "noEcho",
        "reason",
    ]


def own(session: Session, module: str) -> str:
    """A function with one of the constructs' own handlers; its ARN."""
    code = files("hyperpod_constructs.handlers").joinpath(f"{module}.py").read_text(encoding="utf-8")
    return str(function(session, code, Timeout=900).attributes["Arn"])


def test_default_security_group_is_closed(root: Session) -> None:
    vpc = create(root, "AWS::EC2::VPC", CidrBlock="10.0.0.0/16")
    group = vpc.attributes["DefaultSecurityGroup"]
    token = own(root, "close_default_security_group")
    ec2 = root.client("ec2")
    assert ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]["IpPermissionsEgress"]
    made = create(root, "Custom::ClosedDefaultSecurityGroup", ServiceToken=token, GroupId=group)
    (found,) = ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"]
    assert found["IpPermissions"] == found["IpPermissionsEgress"] == []
    update(root, made, ServiceToken=token, GroupId=group, ServiceTimeout="780")
    delete(root, made)
    with pytest.raises(ResourceFailure, match="sg-0123456789abcdef0"):
        create(root, "Custom::ClosedDefaultSecurityGroup", ServiceToken=token, GroupId="sg-0123456789abcdef0")


def test_backup_of_a_file_system_that_is_gone(root: Session) -> None:
    token = own(root, "back_up_file_system")
    made = create(root, "Custom::FinalBackup", ServiceToken=token, FileSystemId="fs-0123456789abcdef0")
    assert made.physical_id == "fs-0123456789abcdef0"
    delete(root, made)


def test_resource_without_handler_of_its_own_kind(root: Session) -> None:
    metadata = create(root, "AWS::CDK::Metadata", Analytics="v2:deflate64:x")
    delete(root, update(root, metadata, Analytics="v2:deflate64:y"))
    with pytest.raises(ResourceFailure, match="More"):
        TYPES["AWS::CDK::Metadata"].check(resource("AWS::CDK::Metadata", More="x"))
