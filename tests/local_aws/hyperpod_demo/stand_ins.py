"""Stand-ins for what a cluster names and the double lacks, such as a network, roles or an EKS cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from botocore.exceptions import WaiterError
from read_back import Clients

from aws_double import RELEASES_TAG
from hyperpod_demo.command_line import DemoError
from hyperpod_model.catalog.add_ons import CHART_NAMESPACE, CHART_RELEASE
from hyperpod_model.catalog.iam import CLUSTER_ROLE_SERVICE, EXECUTION_ROLE_SERVICE
from hyperpod_model.catalog.notifications import ALARMS_SERVICE, BUDGETS_SERVICE, EVENTS_SERVICE
from hyperpod_model.cluster_spec import ClusterSpec

_NETWORK_ID = re.compile(r"(vpc|subnet|sg)-[0-9a-f]{8,17}")
_ROLE = re.compile(r"arn:aws[\w-]*:iam::(?P<account>\d{12}):role(?P<path>/(?:.+/)?)(?P<name>[^/]+)")
_EKS_CLUSTER = re.compile(r"arn:aws[\w-]*:eks:[\w-]+:(?P<account>\d{12}):cluster/(?P<name>[^/]+)")
_KEY = re.compile(r"arn:aws[\w-]*:kms:[\w-]+:\d{12}:key/.+")
_TOPIC = re.compile(r"arn:aws[\w-]*:sns:[\w-]+:\d{12}:(?P<name>[\w-]+)")
_TRAINING_PLAN = re.compile(r"arn:aws[\w-]*:sagemaker:[\w-]+:\d{12}:training-plan/.+")
_OTHER = re.compile(r"arn:aws[\w-]*:(?!iam::aws:).+|(fs|ami|fsvol)-[0-9a-f]{8,17}")
_TRUSTED = (CLUSTER_ROLE_SERVICE, EXECUTION_ROLE_SERVICE, "eks.amazonaws.com", "pods.eks.amazonaws.com")
_PUBLISHERS = (EVENTS_SERVICE, ALARMS_SERVICE, BUDGETS_SERVICE)
_ALLOWED = ("s3:*", "ec2:*", "fsx:*", "sagemaker:*", "logs:*")
_PREFIX_LENGTH = 20
_VPC_PREFIX_LENGTH = 16
_USUAL_RANGE = "10.20.0.0/20"


class StandIns:
    """What one cluster needs to be there.

    Args:
        spec: The cluster.
        region: Where it goes.

    Attributes:
        stack_name: Name of the stack that makes all of it.
        template: Its template, whose outputs tell what has which id.
        uncovered: What the cluster names that nothing can stand in for.
    """

    def __init__(self, spec: ClusterSpec, *, region: str) -> None:
        self._spec = spec
        self._region = region
        named = list(dict.fromkeys(_texts(spec.model_dump(mode="json", exclude_unset=True))))
        self.uncovered = [one for one in named if _OTHER.fullmatch(one) and not _stands_in(one)]
        self._resources: dict[str, Any] = {}
        self._ids: dict[str, Any] = {}
        self._add_network([one for one in named if _NETWORK_ID.fullmatch(one)])
        for number, one in enumerate(named):
            if found := _ROLE.fullmatch(one):
                self._add_role(f"Role{number}", found)
            elif found := _EKS_CLUSTER.fullmatch(one):
                self._add_eks_cluster(one, found)
            elif _KEY.fullmatch(one):
                self._add_key(f"Key{number}", one)
            elif found := _TOPIC.fullmatch(one):
                self._add_topic(f"Topic{number}", found)
        for number, bucket in enumerate(sorted(self._buckets())):
            self._resources[f"Bucket{number}"] = _resource("S3::Bucket", BucketName=bucket)
        self.stack_name = f"stand-ins-{spec.name}"
        self.template: dict[str, Any] = {
            "Description": "Stand-ins for what a cluster names, in a double of AWS",
            "Resources": self._resources,
            "Outputs": {f"Id{number}": {"Value": value} for number, value in enumerate(self._ids.values())},
        }

    def __bool__(self) -> bool:
        return bool(self._resources)

    def make(self, clients: Clients) -> Mapping[str, str]:
        """Make all of it, and return what the stand-ins are called by what the cluster calls them.

        Args:
            clients: Makes boto3 clients of the double.

        Raises:
            DemoError: If the double refuses something.
        """
        cloudformation = clients.client("cloudformation")
        cloudformation.create_stack(
            StackName=self.stack_name,
            TemplateBody=json.dumps(self.template),
            Capabilities=["CAPABILITY_NAMED_IAM"],
        )
        try:
            cloudformation.get_waiter("stack_create_complete").wait(
                StackName=self.stack_name, WaiterConfig={"Delay": 1, "MaxAttempts": 60}
            )
        except WaiterError as error:
            events = cloudformation.describe_stack_events(StackName=self.stack_name)["StackEvents"]
            reasons = [one["ResourceStatusReason"] for one in events if "ResourceStatusReason" in one]
            raise DemoError(f"the stand-ins could not be made: {'; '.join(reversed(reasons))}") from error
        (stack,) = cloudformation.describe_stacks(StackName=self.stack_name)["Stacks"]
        made = {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}
        for uri, script in self._scripts():
            bucket, prefix = _place(uri)
            clients.client("s3").put_object(Bucket=bucket, Key=f"{prefix}{script}", Body=b"#!/bin/bash\n")
        return {named: made[f"Id{number}"] for number, named in enumerate(self._ids)}

    def _add_network(self, ids: list[str]) -> None:
        if not ids and self._spec.eks.cluster_arn is None:
            return
        first = self._range_of_nodes()
        whole = first.supernet(new_prefix=_VPC_PREFIX_LENGTH)
        blocks = whole.subnets(new_prefix=max(_PREFIX_LENGTH, first.prefixlen))
        ranges = (block for block in blocks if not block.overlaps(first))
        self._resources["Vpc"] = _resource("EC2::VPC", CidrBlock=str(whole))
        self._resources["Routes"] = _resource("EC2::RouteTable", VpcId=_ref("Vpc"))
        self._resources["S3Endpoint"] = _resource(
            "EC2::VPCEndpoint",
            VpcId=_ref("Vpc"),
            ServiceName=f"com.amazonaws.{self._region}.s3",
            VpcEndpointType="Gateway",
            RouteTableIds=[_ref("Routes")],
        )
        control_plane = self._spec.eks.control_plane_subnet_ids
        in_another_zone = () if control_plane is None else control_plane[1:]
        subnets = [one for one in ids if one.startswith("subnet-")]
        for number, one in enumerate(subnets):
            zone = "b" if one in in_another_zone else "a"
            self._add_subnet(f"Subnet{number}", first if number == 0 else next(ranges), zone=zone)
            self._ids[one] = _ref(f"Subnet{number}")
        if self._spec.eks.cluster_arn is not None:
            for zone in "ab":
                self._add_subnet(f"ControlPlaneSubnet{zone.upper()}", next(ranges), zone=zone)
        for number, one in enumerate(one for one in ids if one.startswith("sg-")):
            if one != self._spec.eks.cluster_security_group_id:
                self._add_security_group(f"Hosts{number}")
                self._ids[one] = {"Fn::GetAtt": [f"Hosts{number}", "GroupId"]}
        for one in ids:
            if one.startswith("vpc-"):
                self._ids[one] = _ref("Vpc")

    def _range_of_nodes(self) -> IPv4Network:
        said = self._spec.network.subnet_cidr
        found = IPv4Network(_USUAL_RANGE if said is None else said)
        # A subnet that fills the largest VPC leaves no room for others.
        return found if found.prefixlen > _VPC_PREFIX_LENGTH else IPv4Network(_USUAL_RANGE)

    def _add_subnet(self, name: str, block: IPv4Network, *, zone: str) -> None:
        self._resources[name] = _resource(
            "EC2::Subnet",
            VpcId=_ref("Vpc"),
            CidrBlock=str(block),
            AvailabilityZone=f"{self._region}{zone}",
        )
        self._resources[f"{name}Routes"] = _resource(
            "EC2::SubnetRouteTableAssociation", SubnetId=_ref(name), RouteTableId=_ref("Routes")
        )

    def _add_security_group(self, name: str) -> None:
        """Add a group as EFA needs it: all traffic with itself, named by its id, and HTTPS out."""
        self._resources[name] = _resource(
            "EC2::SecurityGroup",
            GroupDescription="Stand-in for the group of the nodes",
            VpcId=_ref("Vpc"),
            SecurityGroupEgress=[
                {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
            ],
        )
        group = {"Fn::GetAtt": [name, "GroupId"]}
        for direction, peer in (
            ("Ingress", "SourceSecurityGroupId"),
            ("Egress", "DestinationSecurityGroupId"),
        ):
            self._resources[f"{name}{direction}"] = _resource(
                f"EC2::SecurityGroup{direction}", GroupId=group, IpProtocol="-1", **{peer: group}
            )

    def _add_role(self, logical_id: str, named: re.Match[str]) -> None:
        self._resources[logical_id] = _role(RoleName=named["name"], Path=named["path"])
        self._ids[named[0]] = {"Fn::GetAtt": [logical_id, "Arn"]}

    def _add_eks_cluster(self, arn: str, named: re.Match[str]) -> None:
        self._resources["EksRole"] = _role()
        self._resources["EksCluster"] = _resource(
            "EKS::Cluster",
            Name=named["name"],
            RoleArn={"Fn::GetAtt": ["EksRole", "Arn"]},
            ResourcesVpcConfig={"SubnetIds": [_ref("ControlPlaneSubnetA"), _ref("ControlPlaneSubnetB")]},
            AccessConfig={"AuthenticationMode": "API_AND_CONFIG_MAP"},
            Tags=[{"Key": RELEASES_TAG, "Value": f"{CHART_NAMESPACE}/{CHART_RELEASE}"}],
        )
        self._ids[arn] = {"Fn::GetAtt": ["EksCluster", "Arn"]}
        group = self._spec.eks.cluster_security_group_id
        if group is not None:
            self._ids[group] = {"Fn::GetAtt": ["EksCluster", "ClusterSecurityGroupId"]}

    def _add_key(self, logical_id: str, arn: str) -> None:
        everything = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "kms:*", "Resource": "*"}
        policy = {"Version": "2012-10-17", "Statement": [everything]}
        self._resources[logical_id] = _resource("KMS::Key", KeyPolicy=policy)
        self._ids[arn] = {"Fn::GetAtt": [logical_id, "Arn"]}

    def _add_topic(self, logical_id: str, named: re.Match[str]) -> None:
        statement = {
            "Effect": "Allow",
            "Principal": {"Service": list(_PUBLISHERS)},
            "Action": "sns:Publish",
            "Resource": _ref(logical_id),
        }
        self._resources[logical_id] = _resource("SNS::Topic", TopicName=named["name"])
        self._resources[f"{logical_id}Policy"] = _resource(
            "SNS::TopicPolicy",
            Topics=[_ref(logical_id)],
            PolicyDocument={"Version": "2012-10-17", "Statement": [statement]},
        )
        self._ids[named[0]] = _ref(logical_id)

    def _buckets(self) -> set[str]:
        found = {_place(uri)[0] for uri, _ in self._scripts()}
        file_system = self._spec.file_system
        repository = None if file_system is None else file_system.data_repository
        if repository is not None and repository.bucket_name is not None:
            found.add(repository.bucket_name)
        return found

    def _scripts(self) -> Iterator[tuple[str, str]]:
        """Name each place of scripts with the script that HyperPod starts there."""
        all_groups = self._spec.lifecycle_scripts
        usual = (
            "on_create.sh" if all_groups is None or all_groups.entry_point is None else all_groups.entry_point
        )
        if all_groups is not None and all_groups.source_s3_uri is not None:
            yield all_groups.source_s3_uri, usual
        for group in self._spec.instance_groups:
            own = group.lifecycle_scripts
            if own is not None and own.source_s3_uri is not None:
                named = [script for script in (own.on_create, own.on_init_complete) if script is not None]
                for script in named or [usual]:
                    yield own.source_s3_uri, script


def _place(uri: str) -> tuple[str, str]:
    """Return the bucket of an S3 URI, and what keys under it begin with."""
    bucket, _, prefix = uri.removeprefix("s3://").partition("/")
    return bucket, f"{prefix.rstrip('/')}/" if prefix else ""


def _stands_in(named: str) -> bool:
    return any(pattern.fullmatch(named) for pattern in (_ROLE, _EKS_CLUSTER, _KEY, _TOPIC, _TRAINING_PLAN))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "Properties": properties}


def _role(**properties: Any) -> dict[str, Any]:
    allowed = {"Effect": "Allow", "Action": list(_ALLOWED), "Resource": "*"}
    trusted = {"Effect": "Allow", "Principal": {"Service": list(_TRUSTED)}, "Action": "sts:AssumeRole"}
    return _resource(
        "IAM::Role",
        AssumeRolePolicyDocument={"Version": "2012-10-17", "Statement": [trusted]},
        Policies=[
            {"PolicyName": "StandIn", "PolicyDocument": {"Version": "2012-10-17", "Statement": [allowed]}}
        ],
        **properties,
    )


def _ref(name: str) -> dict[str, str]:
    return {"Ref": name}


def with_stand_ins(spec: ClusterSpec, made: Mapping[str, str]) -> str:
    """Return a specification, as JSON, that names the stand-ins.

    Args:
        spec: As it was read.
        made: What the stand-ins are called, by what the specification calls them.
    """
    text = json.dumps(spec.model_dump(mode="json", exclude_unset=True), indent=2)
    for named, one in made.items():
        text = text.replace(json.dumps(named), json.dumps(one))
    return text
