"""Clusters made by the constructs, with one thing changed."""

from __future__ import annotations

import json
from typing import Any

from aws_cdk import App, Environment, Stack, assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from create_cluster_model import cluster_resources

from hyperpod_constructs.hyperpod_cluster import HyperPodCluster
from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.resilience_policy import ResiliencePolicy
from hyperpod_constructs.slurm_node_type import SlurmNodeType

ENV = Environment(account="111122223333", region="us-west-2")


class Scripts:
    source_s3_uri = "s3://sagemaker-scripts/abc"
    entry_point = "main.sh"


class FileSystem:
    dns_name = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
    mount_name = "abcdefgh"


def controller(**props: Any) -> InstanceGroup:
    defaults = {
        "name": "controller",
        "instance_type": "ml.m5.2xlarge",
        "instance_count": 1,
        "slurm_node_type": SlurmNodeType.CONTROLLER,
    }
    return InstanceGroup(**{**defaults, **props})


def workers(**props: Any) -> InstanceGroup:
    defaults = {
        "name": "workers",
        "instance_type": "ml.p5.48xlarge",
        "instance_count": 16,
        "slurm_node_type": SlurmNodeType.COMPUTE,
        "partition_names": ["train"],
    }
    return InstanceGroup(**{**defaults, **props})


def stack(env: Environment | None = ENV) -> Stack:
    return Stack(App(), "Stack", env=env)


def cluster(scope: Stack | None = None, **props: Any) -> HyperPodCluster:
    """A cluster that is legal unless a prop makes it otherwise; roles and network are imported."""
    where = stack() if scope is None else scope
    defaults: dict[str, Any] = {
        "cluster_name": "llm-train",
        "instance_groups": [controller(), workers()],
        "orchestrator": Orchestrator.slurm(),
        "execution_role": iam.Role.from_role_arn(
            where, "Imported", "arn:aws:iam::111122223333:role/hp-exec", mutable=False
        ),
        "vpc_subnets": [ec2.Subnet.from_subnet_id(where, "Subnet", "subnet-0123456789abcdef0")],
        "security_groups": [
            ec2.SecurityGroup.from_security_group_id(where, "Group", "sg-0123456789abcdef0", mutable=False)
        ],
        "lifecycle_scripts": Scripts(),
        "resilience": ResiliencePolicy(spare_nodes=1),
    }
    return HyperPodCluster(where, "Cluster", **{**defaults, **props})


def template_of(made: HyperPodCluster) -> dict[str, Any]:
    rendered: dict[str, Any] = assertions.Template.from_stack(Stack.of(made)).to_json()
    return rendered


def properties_of(made: HyperPodCluster) -> dict[str, Any]:
    (resource,) = cluster_resources(template_of(made))
    properties: dict[str, Any] = resource["Properties"]
    return properties


def group_of(made: HyperPodCluster, name: str = "workers") -> dict[str, Any]:
    groups = properties_of(made)["InstanceGroups"]
    (found,) = [group for group in groups if group["InstanceGroupName"] == name]
    return json.loads(json.dumps(found))


def warnings_of(made: HyperPodCluster) -> list[str]:
    """Warnings of the cluster itself, with the id that acknowledges each at the end."""
    annotations = assertions.Annotations.from_stack(Stack.of(made))
    found = annotations.find_warning(f"/{made.node.path}", assertions.Match.any_value())
    return [str(one.entry.data) for one in found]
