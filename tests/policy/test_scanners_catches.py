"""What generic scanners find in a template is found here, too, where it concerns a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from hyperpod_policy import review

Resources = dict[str, Any]


class Catch(NamedTuple):
    """A weakness that generic scanners know.

    Attributes:
        weaken: Puts it into a template that keeps every promise.
        rule_id: Who finds it here.
        logical_id: In which resource.
        template: Fixture of the template.
    """

    weaken: Callable[[Resources], object]
    rule_id: str
    logical_id: str
    template: str = "template"


def _set(logical_id: str, *path: str | int, value: Any) -> Callable[[Resources], object]:
    def weaken(resources: Resources) -> None:
        target = resources[logical_id]["Properties"]
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value

    return weaken


def _drop(logical_id: str, name: str) -> Callable[[Resources], object]:
    return lambda resources: resources[logical_id]["Properties"].pop(name)


def _add(logical_id: str, kind: str, **properties: Any) -> Callable[[Resources], object]:
    return lambda resources: resources.update({logical_id: {"Type": kind, "Properties": properties}})


def _tls_on_the_bucket_only(resources: Resources) -> None:
    statements = resources["CheckpointsPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    (tls,) = (found for found in statements if "Bool" in found.get("Condition", {}))
    tls["Resource"] = {"Fn::GetAtt": ["Checkpoints", "Arn"]}


def _to_the_internet(resources: Resources) -> None:
    del resources["Route"]["Properties"]["NatGatewayId"]
    resources["Route"]["Properties"]["GatewayId"] = {"Ref": "InternetGateway"}


def _open(group: str, port: int) -> Callable[[Resources], object]:
    ports = {"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "CidrIp": "0.0.0.0/0"}
    return _add("Open", "AWS::EC2::SecurityGroupIngress", GroupId={"Ref": group}, **ports)


def _policy(**statement: Any) -> list[dict[str, Any]]:
    return [{"PolicyName": "more", "PolicyDocument": {"Statement": [{"Effect": "Allow", **statement}]}}]


ANYBODY = {"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "kms:*", "Resource": "*"}]}
FULL_ACCESS = ["arn:aws:iam::aws:policy/AmazonS3FullAccess"]
BUT_SOME = _policy(NotAction=["iam:*"], Resource="*")
BLOCKS = "PublicAccessBlockConfiguration"

CATCHES = {
    "one public access block off": Catch(
        _set("Checkpoints", BLOCKS, "RestrictPublicBuckets", value=False), "BucketPublicAccess", "Checkpoints"
    ),
    "public access blocks in part": Catch(
        _set("Scripts", BLOCKS, value={"BlockPublicAcls": True}), "BucketPublicAccess", "Scripts"
    ),
    "suspended versioning": Catch(
        _set("Checkpoints", "VersioningConfiguration", "Status", value="Suspended"),
        "BucketVersioning",
        "Checkpoints",
    ),
    "TLS asked for at the bucket only": Catch(
        _tls_on_the_bucket_only, "BucketTransport", "CheckpointsPolicy"
    ),
    "no rotation of the checkpoints' key": Catch(
        _drop("Key", "EnableKeyRotation"), "BucketEncryption", "Key"
    ),
    "no rotation of another key": Catch(
        _drop("FlowLogKey", "EnableKeyRotation"), "KeyRotation", "FlowLogKey"
    ),
    "everybody in a key policy": Catch(_set("Key", "KeyPolicy", value=ANYBODY), "KeyPolicies", "Key"),
    "everybody in the key policy of logs": Catch(
        _set("FlowLogKey", "KeyPolicy", value=ANYBODY), "KeyPolicies", "FlowLogKey"
    ),
    "a route to an internet gateway": Catch(_to_the_internet, "NodeSubnets", "Route"),
    "a public subnet": Catch(_set("Subnet", "MapPublicIpOnLaunch", value=True), "NodeSubnets", "Subnet"),
    "nodes open to the world": Catch(_open("NodeGroup", 22), "OpenIngress", "Open"),
    "a file system open to the world": Catch(_open("LustreGroup", 988), "OpenIngress", "Open"),
    "endpoints open to the world": Catch(_open("EndpointGroup", 443), "OpenIngress", "Open", "eks_template"),
    "NotAction for nodes": Catch(
        _set("NodeRole", "Policies", value=BUT_SOME), "ExecutionRolePrivileges", "NodeRole"
    ),
    "NotAction for pods": Catch(
        _set("PodRole", "Policies", value=BUT_SOME), "PodRolePrivileges", "PodRole", "eks_template"
    ),
    "NotAction for a function": Catch(
        _set("BackupRole", "Policies", value=BUT_SOME), "RolePrivileges", "BackupRole"
    ),
    "full access for nodes": Catch(
        _set("NodeRole", "ManagedPolicyArns", value=FULL_ACCESS), "ExecutionRolePrivileges", "NodeRole"
    ),
    "full access for pods": Catch(
        _set("PodRole", "ManagedPolicyArns", value=FULL_ACCESS),
        "PodRolePrivileges",
        "PodRole",
        "eks_template",
    ),
    "full access for a function": Catch(
        _set("BackupRole", "ManagedPolicyArns", value=FULL_ACCESS), "RolePrivileges", "BackupRole"
    ),
    "an unencrypted topic": Catch(_drop("Topic", "KmsMasterKeyId"), "TopicEncryption", "Topic"),
    "an alarm without action": Catch(_drop("Alarm", "AlarmActions"), "AlarmActions", "Alarm"),
    "logs that are kept for ever": Catch(
        _drop("FlowLogGroup", "RetentionInDays"), "LogRetention", "FlowLogGroup"
    ),
}


@pytest.mark.parametrize("name", CATCHES)
def test_a_catch_of_generic_scanners_is_one_here(request, name):
    weaken, rule_id, logical_id, fixture = CATCHES[name]
    template = request.getfixturevalue(fixture)
    weaken(template["Resources"])
    found = {(finding.rule_id, finding.logical_id) for finding in review(template).failures}
    assert (rule_id, logical_id) in found


@pytest.mark.parametrize("fixture", sorted({catch.template for catch in CATCHES.values()}))
def test_none_of_them_is_found_before(request, fixture):
    found = {finding.rule_id for finding in review(request.getfixturevalue(fixture)).failures}
    assert not found & {catch.rule_id for catch in CATCHES.values()}
