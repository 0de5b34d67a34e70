"""The parts around a HyperPod cluster in the double, each of which a test can leave out."""

from __future__ import annotations

import json
import uuid
from typing import Any

from local_resources import create

from aws_double.resource import Resource
from aws_double.session import Session

SCRIPTS = "lifecycle-scripts/1"
ENTRY_POINT = "on_create.sh"
CHART = "kube-system/hyperpod-dependencies"
LUSTRE_PORTS = ((988, 988), (1018, 1023))


class Parts:
    """Parts that are made when they are asked for.

    Args:
        session: Who makes them.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.name = f"t{uuid.uuid4().hex[:10]}"
        self.vpc = create(session, "AWS::EC2::VPC", CidrBlock="10.0.0.0/16").physical_id
        self.subnet = self.make_subnet("10.0.1.0/24", "a")
        self._second_subnet: str | None = None

    def make_subnet(self, cidr: str, zone: str) -> str:
        return create(
            self.session,
            "AWS::EC2::Subnet",
            VpcId=self.vpc,
            CidrBlock=cidr,
            AvailabilityZone=f"{self.session.region}{zone}",
        ).physical_id

    def group(self) -> str:
        """A security group that lets nothing out and in."""
        return create(
            self.session,
            "AWS::EC2::SecurityGroup",
            GroupDescription="test",
            VpcId=self.vpc,
            SecurityGroupEgress=[
                {"CidrIp": "255.255.255.255/32", "IpProtocol": "icmp", "FromPort": 252, "ToPort": 86}
            ],
        ).physical_id

    def open(self, owner: str, direction: str, peer: str, ports: tuple[int, int] | None = None) -> Resource:
        """A rule of a group for another one, of all traffic unless there are ports."""
        names = {"Ingress": "SourceSecurityGroupId", "Egress": "DestinationSecurityGroupId"}
        range_ = {} if ports is None else {"FromPort": ports[0], "ToPort": ports[1]}
        properties = {"GroupId": owner, names[direction]: peer, **range_}
        protocol = "-1" if ports is None else "tcp"
        kind = f"AWS::EC2::SecurityGroup{direction}"
        return create(self.session, kind, IpProtocol=protocol, **properties)

    def open_to_itself(self, group: str) -> str:
        for direction in ("Ingress", "Egress"):
            self.open(group, direction, group)
        return group

    def hosts(self) -> str:
        """A group as EFA needs it."""
        return self.open_to_itself(self.group())

    def route_to_s3(self, subnet: str | None = None) -> None:
        """A route table with an endpoint for S3."""
        table = create(self.session, "AWS::EC2::RouteTable", VpcId=self.vpc).physical_id
        create(
            self.session,
            "AWS::EC2::SubnetRouteTableAssociation",
            RouteTableId=table,
            SubnetId=self.subnet if subnet is None else subnet,
        )
        create(
            self.session,
            "AWS::EC2::VPCEndpoint",
            VpcId=self.vpc,
            ServiceName=f"com.amazonaws.{self.session.region}.s3",
            VpcEndpointType="Gateway",
            RouteTableIds=[table],
        )

    def role(self, *, service: str = "sagemaker.amazonaws.com", actions: tuple[str, ...] = ("s3:*",)) -> str:
        """A role; without actions, one without any policy."""
        iam, name = self.session.client("iam"), f"{self.name}-{uuid.uuid4().hex[:8]}"
        trust = {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}],
        }
        arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
        if actions:
            statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
            policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
            iam.put_role_policy(RoleName=name, PolicyName="all", PolicyDocument=policy)
        return str(arn)

    def bucket(self) -> str:
        s3 = self.session.client("s3")
        place = {"LocationConstraint": self.session.region}
        s3.create_bucket(Bucket=self.name, CreateBucketConfiguration=place)
        return self.name

    def scripts(self) -> dict[str, str]:
        """Uploaded lifecycle scripts, and the configuration that names them."""
        bucket = self.bucket()
        self.session.client("s3").put_object(
            Bucket=bucket, Key=f"{SCRIPTS}/{ENTRY_POINT}", Body=b"#!/bin/bash\n"
        )
        return {"SourceS3Uri": f"s3://{bucket}/{SCRIPTS}", "OnCreate": ENTRY_POINT}

    def lustre_group(self) -> str:
        """A group in which the servers of a file system reach each other."""
        group = self.group()
        for ports in LUSTRE_PORTS:
            for direction in ("Ingress", "Egress"):
                self.open(group, direction, group, ports)
        return group

    def file_system(self, group: str) -> dict[str, Any]:
        """A Lustre file system, as the API tells it."""
        found: dict[str, Any] = self.session.client("fsx").create_file_system(
            FileSystemType="LUSTRE",
            StorageCapacity=1200,
            SubnetIds=[self.subnet],
            SecurityGroupIds=[group],
            LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
        )["FileSystem"]
        return found

    def eks_cluster(self, **properties: Any) -> Resource:
        """An EKS cluster whose tags say that the dependency chart is installed."""
        defaults: dict[str, Any] = {
            "Name": self.name,
            "RoleArn": self.role(service="eks.amazonaws.com"),
            "ResourcesVpcConfig": {"SubnetIds": self.eks_subnets()},
            "AccessConfig": {"AuthenticationMode": "API"},
            "Tags": [{"Key": "aws-double:helm-releases", "Value": CHART}],
        }
        return create(self.session, "AWS::EKS::Cluster", **{**defaults, **properties})

    def eks_subnets(self) -> list[str]:
        """Subnets in two zones."""
        if self._second_subnet is None:
            self._second_subnet = self.make_subnet("10.0.2.0/24", "b")
        return [self.subnet, self._second_subnet]


def worker_group(role: str, scripts: dict[str, str], **properties: Any) -> dict[str, Any]:
    """An instance group whose nodes have EFA."""
    return {
        "InstanceGroupName": "workers",
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 2,
        "ExecutionRole": role,
        "LifeCycleConfig": scripts,
        **properties,
    }
