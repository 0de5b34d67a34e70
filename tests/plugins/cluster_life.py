"""One cluster in a double of AWS: deployed, changed and looked at, whatever schedules its jobs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assemblies import assembly_of, with_counts
from cdk_command import CdkCommand, Ran
from deployed_stack import DeployedStack

from aws_double import ACCOUNT
from aws_double.running import Running
from aws_double.session import Session
from hyperpod_constructs import HyperPodStack
from hyperpod_model.cluster_spec import ClusterSpec, stack_name_of

CLUSTER_TYPE = "AWS::SageMaker::Cluster"


class ClusterLife:
    """A cluster and its stack.

    Args:
        double: The double.
        cdk: The CDK CLI that talks to it.
        folder: For assemblies.
        spec: The cluster at first.

    Attributes:
        spec: The cluster as it was deployed last, or tried to be.
        root: The account's root.
        stack: Its stack.
    """

    def __init__(self, double: Running, cdk: CdkCommand, folder: Path, spec: ClusterSpec) -> None:
        self.double = double
        self.cdk = cdk
        self.spec = spec
        self.root: Session = double.session(spec.region)
        self.stack = DeployedStack(self.root, stack_name_of(spec.name))
        self._folder = folder
        self._assemblies = 0

    def change(self, **changes: Any) -> None:
        """Change fields of the specification."""
        self.spec = ClusterSpec.model_validate({**self.spec.model_dump(exclude_unset=True), **changes})

    def resize(self, **counts: int) -> None:
        """Change instance counts by group name."""
        self.change(instance_groups=with_counts(self.spec, **counts))

    def assembly(self, change: Callable[[HyperPodStack], None] | None = None) -> Path:
        """Synthesize the specification, in this process.

        Args:
            change: Changes the stack before synthesis.
        """
        self._assemblies += 1
        folder = self._folder / f"{self.spec.name}-{self._assemblies}"
        return assembly_of(self.spec, folder, change=change)

    def bootstrap(self) -> None:
        """Bootstrap the environment of the cluster."""
        expect(self.cdk.bootstrap(self.assembly(), account=ACCOUNT, region=self.root.region))

    def deploy(self, change: Callable[[HyperPodStack], None] | None = None) -> Ran:
        """Deploy the specification, and expect that it goes through."""
        return expect(self.cdk.deploy(self.assembly(change)))

    @property
    def description(self) -> dict[str, Any]:
        """The cluster as ``DescribeCluster`` tells it."""
        found: dict[str, Any] = self.root.client("sagemaker").describe_cluster(ClusterName=self.spec.name)
        return {key: value for key, value in found.items() if key != "ResponseMetadata"}

    def nodes(self, group: str | None = None) -> list[str]:
        """Ids of the instances of a group, or of all, in the order in which they came."""
        of_group = {} if group is None else {"InstanceGroupNameContains": group}
        pages = (
            self.root.client("sagemaker")
            .get_paginator("list_cluster_nodes")
            .paginate(ClusterName=self.spec.name, SortBy="CREATION_TIME", **of_group)
        )
        return [node["InstanceId"] for page in pages for node in page["ClusterNodeSummaries"]]

    def scripts_uri(self) -> str:
        """Where all instance groups have their lifecycle scripts."""
        (uri,) = {group["LifeCycleConfig"]["SourceS3Uri"] for group in self.description["InstanceGroups"]}
        return str(uri)

    def bucket(self, logical_id_prefix: str) -> str:
        """Name of the bucket whose logical id begins so."""
        (logical_id,) = (
            one for one in self.stack.logical_ids("AWS::S3::Bucket") if one.startswith(logical_id_prefix)
        )
        return self.stack.physical_id(logical_id)

    def role_arn(self, logical_id_prefix: str) -> str:
        """ARN of the role whose logical id begins so."""
        (logical_id,) = (
            one for one in self.stack.logical_ids("AWS::IAM::Role") if one.startswith(logical_id_prefix)
        )
        return f"arn:aws:iam::{ACCOUNT}:role/{self.stack.physical_id(logical_id)}"

    def bucket_policy(self, bucket: str) -> dict[str, Any]:
        """The policy of a bucket."""
        policy = self.root.client("s3").get_bucket_policy(Bucket=bucket)["Policy"]
        decoded: dict[str, Any] = json.loads(policy)
        return decoded

    def retained(self) -> dict[str, str]:
        """Physical ids by logical id of what the template keeps when the stack goes."""
        return {
            logical_id: self.stack.physical_id(logical_id)
            for logical_id, declared in self.stack.template["Resources"].items()
            if declared.get("DeletionPolicy", "Delete").startswith("Retain")
        }


def expect(ran: Ran) -> Ran:
    """Expect that a command succeeds."""
    assert ran.succeeded, ran.output[-6000:]
    return ran


def keys_under(clients: Any, uri: str) -> dict[str, bytes]:
    """Contents of the objects under an S3 URI, by key below it."""
    place = urlsplit(uri)
    bucket, prefix = place.netloc, place.path.strip("/") + "/"
    s3 = clients.client("s3")
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    keys = [one["Key"] for page in pages for one in page.get("Contents", [])]
    return {key.removeprefix(prefix): s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}
