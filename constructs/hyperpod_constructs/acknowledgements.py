"""Findings of cdk-nag that this library accepts, each with its reason.

An acknowledgement is as narrow as its finding: one rule on one resource, and where the rule tells findings
apart (``AwsSolutions-IAM5[Resource::...]``) one finding. What is not listed here stays a finding, so a grant
that somebody adds later is not covered.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import IConstruct

from hyperpod_constructs.accepted_findings import (
    BASIC_EXECUTION,
    NIST,
    SHORT_LIVED_FUNCTION,
    SOLUTIONS,
    Accepted,
    Findings,
    always,
    by_sid,
    managed_policies,
    of_resource,
    pinned_objects,
    together,
    wildcards,
)
from hyperpod_constructs.access_log_bucket import AccessLogBucket
from hyperpod_constructs.cluster_network import ClusterNetwork
from hyperpod_constructs.efa_security_group import EfaSecurityGroup
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.inline_handler import InlineHandler
from hyperpod_constructs.locked_bucket import LockedBucket
from hyperpod_model.catalog.iam import CLUSTER_INSTANCE_MANAGED_POLICY

_UPLOAD_HANDLER = "Custom::CDKBucketDeployment"


def acknowledge_known_findings(scope: IConstruct) -> tuple[Accepted, ...]:
    """Acknowledge what cdk-nag finds on this library's own resources, and on nothing else.

    Call it last, when everything is built: some ids hold logical ids and statements of policies.

    Args:
        scope: A stack, or any construct that holds some of this library's.

    Returns:
        What was acknowledged.
    """
    constructs = scope.node.find_all()
    tables = _tables()
    resources = tuple({kind for findings in tables.values() for kind in findings})
    owners = {
        construct.node.path: kind
        for construct in constructs
        for kind in tables
        if isinstance(construct, kind)
    }
    accepted: list[Accepted] = []
    for construct in constructs:
        if isinstance(construct, resources):
            owner = _nearest(construct.node.path, owners)
            if owner is not None:
                accepted += of_resource(construct, tables[owner])
    return _acknowledge(accepted)


def acknowledge_upload_handler(stack: Stack) -> tuple[Accepted, ...]:
    """Acknowledge what cdk-nag finds on the CDK's own upload function.

    The function is one for all uploads of a stack that ask for the same memory, so this is for the app to
    decide: no construct speaks for a function that other teams share.

    Args:
        stack: A stack whose upload functions all belong to ``LifecycleScripts``.

    Returns:
        What was acknowledged.
    """
    return _acknowledge(
        [
            accepted
            for child in stack.node.children
            if isinstance(child, lambda_.SingletonFunction | lambda_.Function)
            and child.node.id.startswith(_UPLOAD_HANDLER)
            for resource in child.node.find_all()
            for accepted in of_resource(resource, _UPLOAD_FINDINGS)
        ]
    )


def _tables() -> dict[type, dict[type, Findings]]:
    # An app without EKS has no construct of it, and need not load what accepts its findings.
    if "hyperpod_constructs.eks_control_plane" not in sys.modules:
        return _OWNERS
    from hyperpod_constructs.eks_acknowledgements import EKS_OWNERS

    return _OWNERS | EKS_OWNERS


def _acknowledge(accepted: Sequence[Accepted]) -> tuple[Accepted, ...]:
    by_construct: dict[IConstruct, list[Acknowledgment]] = {}
    for one in accepted:
        acknowledgment = Acknowledgment(id=one.id, reason=one.reason)
        by_construct.setdefault(one.construct, []).append(acknowledgment)
    for construct, acknowledgments in by_construct.items():
        Validations.of(construct).acknowledge(*acknowledgments)
    return tuple(accepted)


def _nearest(path: str, owners: Mapping[str, type]) -> type | None:
    while path:
        path = path.rpartition("/")[0]
        if path in owners:
            return owners[path]
    return None


def _internet_route(route: IConstruct) -> Iterator[tuple[str, str]]:
    assert isinstance(route, ec2.CfnRoute)
    if route.gateway_id is not None:
        yield (
            f"{NIST}VPCNoUnrestrictedRouteToIGW",
            "the public subnet holds the NAT gateway and nothing else; nodes are in a private subnet",
        )


def _node_permissions(statement: Mapping[str, Any], wildcard: str) -> str | None:
    reason = _NODE_STATEMENTS.get(statement.get("Sid", ""))
    if reason is not None:
        # One id stands for the same wildcard in several statements, so one reason has to cover them all.
        return _INTERFACES if wildcard.endswith(":network-interface/*") else reason
    return pinned_objects(statement, wildcard)


def _upload_permissions(_statement: Mapping[str, Any], wildcard: str) -> str | None:
    of_one_bucket = wildcard.startswith(("<", "arn:")) and wildcard.endswith("/*")
    return _UPLOAD_STATEMENTS if of_one_bucket or wildcard in _UPLOAD_ACTIONS else None


_INTERFACES = (
    "network interfaces get ids at run time; HyperPod documents that nodes in a VPC create, permit, detach, "
    "delete and tag them, here within this account and Region, which takes in interfaces of others"
)
_NODE_STATEMENTS = {
    "DescribeNetwork": "ec2:Describe* actions take no resource; they are those HyperPod documents for nodes "
    "in a VPC",
    "CreateInterfaces": (
        "the subnet and the security groups are named, and only their account is open, since a shared subnet "
        "belongs to another account"
    ),
    "PermitInterfaces": _INTERFACES,
    "RemoveInterfaces": _INTERFACES,
    "DetachInterfaces": (
        "the instances from which interfaces are detached belong to the service's account and get ids at run "
        "time; the interfaces are narrowed to this account and Region"
    ),
    "TagInterfaces": _INTERFACES,
    "ChangeInterfaces": _INTERFACES,
    "ModifyInterfaces": (
        "the instances whose interfaces are changed belong to the service's account and get ids at run "
        "time; the subnet and the security groups are named"
    ),
    "AttachInterfaces": (
        "the instances to which interfaces are attached belong to the service's account and get ids at run "
        "time; the interfaces are narrowed to this account and Region"
    ),
    "Images": (
        "nodes pull the images of AWS's agents and add-ons from registries of AWS's accounts, which are not "
        "published as a list; pulling reads only"
    ),
    "FileSystems": "fsx:DescribeFileSystems takes no resource that is narrower than every file system",
    "ImageRegistry": "ecr:GetAuthorizationToken takes no resource",
}
_NETWORK_ACL = {
    f"{SOLUTIONS}VPC3": (
        "the ACL exists to deny the ports of managed tiered checkpointing from outside the subnet whatever "
        "security groups say; it replaces none of their rules"
    )
}
_REPLICATED_ELSEWHERE = {
    f"{NIST}S3BucketReplicationEnabled": (
        "a replica would be a second bucket whose content runs on the nodes, with writers of its own; "
        "versions keep what was overwritten or deleted"
    )
}
_HANDLER_STATEMENTS = {
    "ReadRules": "ec2:DescribeSecurityGroups takes no resource; it only reads",
    "BackUp": "a backup gets its id when it is made; the file system it is made of is named",
    "KeepLogGroup": "the streams of the one log group that it makes or adopts, as IAM writes a log group",
    "NameBackup": "a backup gets its id when it is made; tagging is limited to backups",
}
_UPLOAD_ACTIONS = {
    "s3:GetObject*",
    "s3:GetBucket*",
    "s3:List*",
    "s3:DeleteObject*",
    "s3:Abort*",
    "kms:ReEncrypt*",
    "kms:GenerateDataKey*",
}
_UPLOAD_STATEMENTS = (
    "written by the CDK for its upload function: reads of the CDK's asset bucket, writes of the one bucket "
    "of lifecycle scripts and use of its key; the bucket's policy lists this role as its only writer"
)

_OWNERS: dict[type, dict[type, Findings]] = {
    ClusterNetwork: {
        ec2.CfnNetworkAcl: always(_NETWORK_ACL),
        ec2.CfnNetworkAclEntry: always(_NETWORK_ACL),
        ec2.CfnVPC: always(
            {
                f"{NIST}VPCDefaultSecurityGroupClosed": (
                    "a template cannot take rules out of the default security group; a custom resource of "
                    "this network does when the VPC is made"
                )
            }
        ),
        ec2.CfnRoute: _internet_route,
    },
    InlineHandler: {
        lambda_.CfnFunction: always(SHORT_LIVED_FUNCTION),
        logs.CfnLogGroup: always(
            {
                f"{NIST}CloudWatchLogGroupEncrypted": (
                    "the log holds ids of resources and errors of AWS APIs, no secret; CloudWatch Logs "
                    "encrypts it with a key of its own"
                )
            }
        ),
        iam.CfnManagedPolicy: by_sid(_HANDLER_STATEMENTS),
    },
    EfaSecurityGroup: {
        ec2.CfnSecurityGroupIngress: always(
            {
                f"{NIST}EC2RestrictedCommonPorts": (
                    "EFA needs all traffic among the members of the group; the rule names the group itself "
                    "and lets nobody else in"
                )
            }
        ),
    },
    LockedBucket: {s3.CfnBucket: always(_REPLICATED_ELSEWHERE)},
    AccessLogBucket: {
        s3.CfnBucket: always(
            {
                f"{NIST}S3BucketReplicationEnabled": (
                    "access logs are kept for a year in one Region; replicate them from a log archive of "
                    "your own where your rules ask for more"
                ),
                f"{NIST}S3DefaultEncryptionKMS": (
                    "server access logs are not delivered to a bucket whose default encryption is SSE-KMS"
                ),
            }
        )
    },
    ExecutionRole: {
        iam.CfnRole: managed_policies(
            {
                CLUSTER_INSTANCE_MANAGED_POLICY: (
                    "the policy that AWS maintains for HyperPod nodes (logs, metrics, Systems Manager); the "
                    "service expects it"
                )
            }
        ),
        iam.CfnManagedPolicy: wildcards(_node_permissions),
    },
}
_UPLOAD_FINDINGS: dict[type, Findings] = {
    lambda_.CfnFunction: always(
        {
            **SHORT_LIVED_FUNCTION,
            f"{SOLUTIONS}L1": (
                "the CDK chooses the runtime of its upload function and updates it with each release"
            ),
        }
    ),
    iam.CfnRole: managed_policies(
        {
            BASIC_EXECUTION: (
                "the CDK gives its upload function the managed policy for writing logs, and no other"
            )
        }
    ),
    iam.CfnPolicy: together(
        wildcards(_upload_permissions),
        always(
            {
                f"{NIST}IAMNoInlinePolicy": (
                    "the CDK gives its upload function an inline policy; there is no option"
                )
            }
        ),
    ),
}
