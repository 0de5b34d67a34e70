from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Aws, CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Annotations, Match, Template

from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.openzfs_mount import OpenZfsMount
from hyperpod_model.catalog.ports import OPENZFS
from hyperpod_model.faults import InvalidInputError

NAME = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"


def test_a_mount_says_what_the_request_takes() -> None:
    assert OpenZfsMount(dns_name=NAME).to_request() == {"DnsName": NAME}
    assert OpenZfsMount(dns_name=NAME, mount_path="/home").to_request() == {
        "DnsName": NAME,
        "MountPath": "/home",
    }


def test_tokens_pass() -> None:
    stack = Stack(App(), "Stack")
    name = f"{CfnParameter(stack, 'Id').value_as_string}.fsx.{Aws.REGION}.{Aws.URL_SUFFIX}"
    path = CfnParameter(stack, "Path").value_as_string
    request = OpenZfsMount(dns_name=name, mount_path=path).to_request()
    assert stack.resolve(request["MountPath"]) == {"Ref": "Path"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"dns_name": "home.example.com"},
            r"OpenZFS mount: dns_name must be the DNS name of an FSx file sys",
        ),
        ({"dns_name": NAME, "mount_path": ""}, r"OpenZFS mount: mount_path "),
    ],
)
def test_other_forms_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        OpenZfsMount(**options)


def test_a_mount_does_not_change() -> None:
    mount = OpenZfsMount(dns_name=NAME)
    with pytest.raises(AttributeError):
        mount.mount_path = "/other"  # type: ignore[misc]


def _nodes(stack: Stack) -> EfaSecurityGroup:
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
    )
    return EfaSecurityGroup(stack, "Nodes", vpc=vpc, https_egress=False)


def _group(stack: Stack, id: str = "Home", group_id: str = "sg-0123456789abcdef0") -> ec2.ISecurityGroup:
    return ec2.SecurityGroup.from_security_group_id(stack, id, group_id)


def _nfs(template: Template, direction: str) -> list[dict[str, Any]]:
    found = template.find_resources(f"AWS::EC2::SecurityGroup{direction}")
    return [rule["Properties"] for rule in found.values() if rule["Properties"]["IpProtocol"] != "-1"]


def test_nodes_open_connections_to_nfs_and_the_file_system_none_to_them() -> None:
    stack = Stack(App(), "Stack")
    nodes = _nodes(stack)
    nodes.allow_openzfs(_group(stack))
    template = Template.from_stack(stack)
    (ingress,), (egress,) = _nfs(template, "Ingress"), _nfs(template, "Egress")
    itself = stack.resolve(nodes.security_group_id)
    (nfs,) = OPENZFS
    for rule in (ingress, egress):
        assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == (nfs.protocol, nfs.first, nfs.last)
    assert (ingress["GroupId"], ingress["SourceSecurityGroupId"]) == ("sg-0123456789abcdef0", itself)
    assert (egress["GroupId"], egress["DestinationSecurityGroupId"]) == (itself, "sg-0123456789abcdef0")
    Annotations.from_stack(stack).has_no_warning("*", Match.any_value())


def test_the_same_file_system_gets_its_rules_once_and_another_its_own() -> None:
    stack = Stack(App(), "Stack")
    nodes, home = _nodes(stack), _group(stack)
    assert nodes.allow_openzfs(home).node.path == nodes.allow_openzfs(home).node.path
    nodes.allow_openzfs(_group(stack, "Tools", "sg-0fedcba9876543210"))
    template = Template.from_stack(stack)
    assert [len(_nfs(template, direction)) for direction in ("Ingress", "Egress")] == [2, 2]


def test_what_is_no_group_is_refused() -> None:
    stack = Stack(App(), "Stack")
    with pytest.raises(InvalidInputError, match="file_system_group: must be a security group"):
        _nodes(stack).allow_openzfs("sg-0123456789abcdef0")  # type: ignore[arg-type]
