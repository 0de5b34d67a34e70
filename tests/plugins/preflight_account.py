"""An account in which a small cluster can be made, as its APIs tell it; each test changes one thing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from told_aws import ACCOUNT, REGION, Answer

SUBNET = "subnet-0123456789abcdef0"
OTHER_SUBNET = "subnet-0fedcba9876543210"
SECURITY_GROUP = "sg-0123456789abcdef0"
VPC = "vpc-0123456789abcdef0"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/nodes"
SCALER = f"arn:aws:iam::{ACCOUNT}:role/scaler"
PLAN = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-plan/plan-1"
EKS = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/training"
ZONE = "usw2-az1"

MADE: dict[str, Any] = {
    "name": "llm-train",
    "region": REGION,
    "network": {"availability_zone_id": ZONE},
    "instance_groups": [
        {
            "name": "controller",
            "node_type": "Controller",
            "instance_type": "ml.m5.2xlarge",
            "instance_count": 1,
        },
        {
            "name": "workers",
            "node_type": "Compute",
            "partition_names": ["train"],
            "instance_type": "ml.p5.48xlarge",
            "instance_count": 4,
        },
    ],
}
"""A Slurm cluster with a network of its own."""

EXISTING: dict[str, Any] = {
    **MADE,
    "network": {"vpc_id": VPC, "subnet_ids": [SUBNET], "security_group_ids": [SECURITY_GROUP]},
    "file_system": None,
}
"""The same in a network that exists."""

ON_EKS: dict[str, Any] = {
    "name": "llm-train",
    "region": REGION,
    "orchestrator": "eks",
    "network": EXISTING["network"],
    "eks": {"cluster_arn": EKS, "dependency_chart": {"installed": True}},
    "file_system": None,
    "checkpoint_bucket": None,
    "instance_groups": [
        {"name": "workers", "instance_type": "ml.p5.48xlarge", "instance_count": 4},
    ],
}
"""A cluster on an EKS cluster that exists."""

WITH_EKS: dict[str, Any] = {
    **ON_EKS,
    "network": {"availability_zone_id": ZONE},
    "eks": {
        "control_plane_availability_zone_ids": [ZONE, "usw2-az2"],
        "dependency_chart": {"oci_uri": "oci://registry.example.com/chart", "version": "0.1.0"},
    },
}
"""The same with an EKS cluster that is made."""


def with_groups(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The cluster with its workers changed."""
    *others, workers = base["instance_groups"]
    return {**base, "instance_groups": [*others, {**workers, **changes}]}


def quota(name: str, value: float, code: str = "L-00000001") -> dict[str, Any]:
    return {"QuotaName": name, "QuotaCode": code, "Value": value}


CLUSTER_QUOTAS = [
    quota("ml.p5.48xlarge for cluster usage", 8, "L-P5"),
    quota("ml.m5.2xlarge for cluster usage", 2, "L-M5"),
    quota("Maximum number instances allowed per SageMaker HyperPod cluster", 20, "L-ONE"),
    quota("Total number of instances allowed across SageMaker HyperPod clusters", 30, "L-ALL"),
    quota("Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance", 1000, "L-EBS"),
    quota("ml.p5.48xlarge for cluster spot instance usage", 8, "L-SPOT"),
    quota("ml.m5.2xlarge for cluster spot instance usage", 8, "L-SPOTM5"),
    quota("Total number of Spot instances allowed across SageMaker HyperPod clusters", 9, "L-SPOTS"),
]
INTERFACE_QUOTA = quota("Network interfaces per Region", 5000, "L-DF5E4CA3")


def group(name: str, type: str, count: int, **more: Any) -> dict[str, Any]:
    """A group of a cluster that exists."""
    return {
        "InstanceGroupName": name,
        "InstanceType": type,
        "CurrentCount": count,
        "TargetCount": count,
        **more,
    }


def clusters(**groups: list[dict[str, Any]]) -> dict[tuple[str, str], Answer]:
    """Clusters that exist, by name with underscores in the place of hyphens, in service."""
    names = {name.replace("_", "-"): rows for name, rows in groups.items()}
    arns = {
        f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/{index:012d}": name for index, name in enumerate(names)
    }
    now = datetime(2026, 11, 30, tzinfo=UTC)
    return {
        ("sagemaker", "ListClusters"): {
            "ClusterSummaries": [
                {"ClusterArn": arn, "ClusterName": name, "ClusterStatus": "InService", "CreationTime": now}
                for arn, name in arns.items()
            ]
        },
        ("sagemaker", "DescribeCluster"): lambda asked: {
            "ClusterArn": asked["ClusterName"],
            "ClusterName": arns[asked["ClusterName"]],
            "ClusterStatus": "InService",
            "InstanceGroups": names[arns[asked["ClusterName"]]],
        },
    }


def subnet(id: str = SUBNET, **more: Any) -> dict[str, Any]:
    return {
        "SubnetId": id,
        "State": "available",
        "VpcId": VPC,
        "AvailabilityZoneId": ZONE,
        "AvailableIpAddressCount": 4000,
        **more,
    }


def security_group(id: str = SECURITY_GROUP, **more: Any) -> dict[str, Any]:
    own = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": id}]}]
    return {"GroupId": id, "VpcId": VPC, "IpPermissions": own, "IpPermissionsEgress": own, **more}


def role(arn: str, *statements: dict[str, Any]) -> dict[str, Any]:
    """A role, with its trust as IAM sends it: encoded."""
    trust = {"Version": "2012-10-17", "Statement": list(statements)}
    return {
        "Role": {
            "Arn": arn,
            "RoleName": arn.rpartition("/")[2],
            "Path": "/",
            "RoleId": "AROAEXAMPLE123456",
            "CreateDate": datetime(2026, 11, 1, tzinfo=UTC),
            "AssumeRolePolicyDocument": quote(json.dumps(trust)),
        }
    }


def allow(service: str | list[str], **more: Any) -> dict[str, Any]:
    """A statement that lets a service take a role."""
    return {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole", **more}


def roles(asked: Any) -> Any:
    services = {"nodes": "sagemaker.amazonaws.com", "scaler": "hyperpod.sagemaker.amazonaws.com"}
    name = asked["RoleName"]
    return role(f"arn:aws:iam::{ACCOUNT}:role/{name}", allow(services.get(name, "ec2.amazonaws.com")))


def plan(**more: Any) -> dict[str, Any]:
    return {
        "TrainingPlanArn": PLAN,
        "TrainingPlanName": "plan-1",
        "Status": "Active",
        "AvailableInstanceCount": 8,
        "TargetResources": ["hyperpod-cluster"],
        "ReservedCapacitySummaries": [capacity()],
        **more,
    }


def capacity(**more: Any) -> dict[str, Any]:
    return {
        "ReservedCapacityArn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:reserved-capacity/one-of-several",
        "InstanceType": "ml.p5.48xlarge",
        "TotalInstanceCount": 8,
        "Status": "Active",
        "AvailabilityZoneId": ZONE,
        **more,
    }


def eks(**more: Any) -> dict[str, Any]:
    return {
        "cluster": {
            "name": "training",
            "arn": EKS,
            "status": "ACTIVE",
            "version": "1.33",
            "endpoint": "https://127.0.0.1:1",
            "accessConfig": {"authenticationMode": "API"},
            "resourcesVpcConfig": {"vpcId": VPC},
            **more,
        }
    }


def zone(id: str, **more: Any) -> dict[str, Any]:
    return {
        "ZoneId": id,
        "ZoneName": f"us-west-2{'abcd'[int(id[-1]) - 1]}",
        "ZoneType": "availability-zone",
        "State": "available",
        **more,
    }


def add_on(name: str, version: str, **more: Any) -> dict[str, Any]:
    return {"addon": {"addonName": name, "addonVersion": version, "status": "ACTIVE", **more}}


def versions(*names: str, default: str | None = None) -> dict[str, Any]:
    """Versions of an add-on, the first being the default unless another is named."""
    first = names[0] if default is None else default
    return {
        "addons": [
            {
                "addonVersions": [
                    {"addonVersion": name, "compatibilities": [{"defaultVersion": name == first}]}
                    for name in names
                ]
            }
        ]
    }


INSTALLED = {"vpc-cni": "v1.20.4-eksbuild.1", "kube-proxy": "v1.33.0-eksbuild.2"}


def good_account() -> dict[tuple[str, str], Answer]:
    """What every API answers where nothing stands in the way."""
    return {
        ("sts", "GetCallerIdentity"): {"Account": ACCOUNT},
        **clusters(),
        ("cloudformation", "DescribeType"): {"Type": "RESOURCE"},
        ("ec2", "DescribeAvailabilityZones"): {"AvailabilityZones": [zone(ZONE), zone("usw2-az2")]},
        ("ec2", "DescribeInstanceTypeOfferings"): {
            "InstanceTypeOfferings": [
                {"InstanceType": name, "Location": ZONE, "LocationType": "availability-zone-id"}
                for name in ("m5.2xlarge", "p5.48xlarge")
            ]
        },
        ("service-quotas", "ListAWSDefaultServiceQuotas"): {"Quotas": []},
        ("service-quotas", "ListServiceQuotas"): lambda asked: {
            "Quotas": CLUSTER_QUOTAS if asked["ServiceCode"] == "sagemaker" else [INTERFACE_QUOTA]
        },
        ("ec2", "DescribeNetworkInterfaces"): {"NetworkInterfaces": [{}] * 100},
        ("ec2", "DescribeSubnets"): {"Subnets": [subnet()]},
        ("ec2", "DescribeSecurityGroups"): {"SecurityGroups": [security_group()]},
        ("s3", "HeadBucket"): {"BucketRegion": REGION},
        ("iam", "GetRole"): roles,
        ("sagemaker", "DescribeTrainingPlan"): plan(),
        ("eks", "DescribeCluster"): eks(),
        ("eks", "ListAddons"): {"addons": [*INSTALLED]},
        ("eks", "DescribeAddon"): lambda asked: add_on(asked["addonName"], INSTALLED[asked["addonName"]]),
        ("eks", "DescribeAddonVersions"): versions("v1.20.4-eksbuild.1", "v1.19.0-eksbuild.1"),
        ("eks", "DescribeClusterVersions"): {
            "clusterVersions": [
                {"clusterVersion": "1.33", "versionStatus": "STANDARD_SUPPORT"},
                {"clusterVersion": "1.29", "versionStatus": "UNSUPPORTED"},
            ]
        },
    }


def restricted(**more: Any) -> dict[str, Any]:
    """A cluster on EKS with a restricted group alone."""
    group = {"name": "nova", "instance_type": "ml.p5.48xlarge", "instance_count": 4, **more}
    environment = {"file_system": {"storage_capacity_gib": 1200, "throughput_mbps_per_tib": 250}}
    return {
        **ON_EKS,
        "instance_groups": [],
        "restricted_instance_groups": [group],
        "restricted_environment": environment,
    }
