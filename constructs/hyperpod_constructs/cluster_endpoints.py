"""The VPC endpoints through which a cluster reaches AWS without the internet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import jsii
from aws_cdk import Aws, CfnTag, Fn
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import BUCKET, SUBNET, VPC, Kind, check_kind, check_kinds
from hyperpod_model.catalog.endpoints import (
    ENDPOINTS,
    WEB_IDENTITY_ACTION,
    AwsOwnedBucket,
    Endpoint,
    aws_owned_buckets,
    endpoint,
    optional_services,
    required_endpoints,
)
from hyperpod_model.catalog.fact import UnknownNameError
from hyperpod_model.catalog.iam import ECR_ACTIONS, scoped, unscoped
from hyperpod_model.catalog.ports import HTTPS
from hyperpod_model.faults import Fault

ENDPOINTS_OF_A_CLUSTER = Kind(
    "interface_endpoints", "the endpoints of a cluster, such as ClusterNetwork(isolated=True).endpoints"
)

_ORCHESTRATORS = ("slurm", "eks")


@jsii.implements(ec2.IConnectable)
class ClusterEndpoints(Construct):
    """Every VPC endpoint that an orchestrator needs, with a policy where the service is known to take one.

    Interface endpoints have private DNS on, so that nodes find them under the services' usual names. They
    share a security group that admits TCP 443 from the clients' ranges and opens nothing by itself.

    - S3 (a gateway endpoint): buckets of this account; the few buckets of AWS that nodes read, such as that
      of ECR's image layers, with the one action they need; and buckets named by ``allow_bucket``. Nothing on
      a node reaches another account's bucket, with whosever credentials.
    - ECR: callers of this account, who pull images from anywhere, since those of EKS and HyperPod stand in
      accounts of AWS, and push them to this account's repositories only. Lambda: functions of this account.
      Prometheus: workspaces of this account.
    - The other services: callers of this account only, whatever they ask for.
    - STS as well. On EKS it also takes the unsigned call with which IRSA begins, for roles of this account.
    - Services that are not known to take a policy (ssmmessages, ec2messages, eks-auth) have none.

    Custom resources of this library run outside the VPC and need no endpoint. Those with which the CDK
    installs charts run inside where the Kubernetes endpoint is private: for them EKS gets Lambda's endpoint
    and the bucket for CloudFormation's answers.

    Which services and buckets there are stands in ``hyperpod_model.catalog.endpoints``, with sources and with
    the doubts: AWS publishes no complete list.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        vpc: The VPC. It resolves names (``EnableDnsSupport`` and ``EnableDnsHostnames``).
        subnets: Where the interface endpoints stand, at most one in a zone; each takes one address for each
            endpoint.
        route_table_ids: Route tables of the subnets from which S3 is reached.
        client_cidrs: IPv4 ranges of those subnets, which the endpoints admit.
        orchestrator: ``slurm`` or ``eks``. Default ``slurm``.
        optional_services: Further services, such as ``fsx`` or ``secretsmanager``. None by default.

    Raises:
        InvalidInputError: For a service that the catalog does not list, or no subnet, route table or range.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnets: Sequence[ec2.ISubnet],
        route_table_ids: Sequence[str],
        client_cidrs: Sequence[str],
        orchestrator: Literal["slurm", "eks"] = "slurm",
        optional_services: Sequence[str] = (),
    ) -> None:
        super().__init__(scope, id)
        lists = {"subnets": subnets, "route_table_ids": route_table_ids, "client_cidrs": client_cidrs}
        refuse_arguments(
            f"endpoints '{self.node.path}'",
            [
                *check_kind(vpc, VPC, ("vpc",), required=True),
                *check_kinds(subnets, SUBNET, ("subnets",), required=True),
                *(
                    Fault((name,), f"must be a list with one item at least, got {value!r}")
                    for name, value in lists.items()
                    if isinstance(value, str) or not value
                ),
                *check_endpoint_choice(orchestrator, optional_services),
            ],
        )
        self._orchestrator: Literal["slurm", "eks"] = orchestrator
        chosen = dict.fromkeys(
            [*required_endpoints(orchestrator), *(endpoint(service) for service in optional_services)]
        )
        self.services: tuple[str, ...] = tuple(found.service for found in chosen)
        """Services that have an endpoint, such as ``ecr.api``."""
        self.security_group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            allow_all_outbound=False,
            disable_inline_rules=False,
            description="Interface endpoints: HTTPS from the nodes",
        )
        (https,) = HTTPS
        self._connections = ec2.Connections(
            security_groups=[self.security_group], default_port=ec2.Port.tcp(https.first)
        )
        for number, cidr in enumerate(client_cidrs, start=1):
            ec2.CfnSecurityGroupIngress(
                self,
                f"HttpsIngress{number}",
                group_id=self.security_group.security_group_id,
                ip_protocol=https.protocol,
                from_port=https.first,
                to_port=https.last,
                cidr_ip=cidr,
                description="HTTPS from a subnet of the nodes",
            )
        self._buckets = iam.PolicyDocument(minimize=False)
        self._write_bucket_policy()
        self.gateway = ec2.CfnVPCEndpoint(
            self,
            "S3",
            vpc_id=vpc.vpc_id,
            vpc_endpoint_type="Gateway",
            service_name=ENDPOINTS["s3"].service_name(Aws.REGION),
            route_table_ids=list(route_table_ids),
            policy_document=self._buckets,
            tags=self._name_tag("s3"),
        )
        """The gateway endpoint of S3."""
        subnet_ids = [subnet.subnet_id for subnet in subnets]
        self.interface_endpoints: Mapping[str, ec2.CfnVPCEndpoint] = MappingProxyType(
            {
                found.service: self._add_interface_endpoint(found, vpc, subnet_ids)
                for found in chosen
                if found.kind == "Interface"
            }
        )
        """The interface endpoints by service, such as ``ecr.api``."""

    @property
    def connections(self) -> ec2.Connections:
        """Connections of the interface endpoints' security group, with HTTPS as default port."""
        return self._connections

    def allow_bucket(self, bucket: s3.IBucket) -> None:
        """Let the nodes reach a bucket of another account too.

        Args:
            bucket: The bucket. Buckets of this account need no such call.

        Raises:
            InvalidInputError: If it is no bucket.
        """
        refuse_arguments(
            f"endpoints '{self.node.path}'", check_kind(bucket, BUCKET, ("bucket",), required=True)
        )
        self._buckets.add_statements(
            iam.PolicyStatement(
                principals=[iam.StarPrincipal()],
                actions=["s3:*"],
                resources=[bucket.bucket_arn, bucket.arn_for_objects("*")],
            )
        )

    def _write_bucket_policy(self) -> None:
        everybody = [iam.StarPrincipal()]
        self._buckets.add_statements(
            iam.PolicyStatement(
                sid="OwnBuckets",
                principals=everybody,
                actions=["s3:*"],
                resources=["*"],
                conditions={"StringEquals": {"aws:ResourceAccount": Aws.ACCOUNT_ID}},
            )
        )
        for number, bucket in enumerate(aws_owned_buckets(self._orchestrator, self.services), start=1):
            self._buckets.add_statements(
                iam.PolicyStatement(
                    sid=f"AwsOwnedBucket{number}",
                    principals=everybody,
                    actions=[bucket.action],
                    resources=[f"arn:{Aws.PARTITION}:s3:::{_bucket_name(bucket)}/*"],
                )
            )

    def _add_interface_endpoint(
        self, found: Endpoint, vpc: ec2.IVpc, subnet_ids: list[str]
    ) -> ec2.CfnVPCEndpoint:
        return ec2.CfnVPCEndpoint(
            self,
            "".join(part.capitalize() for part in found.service.replace("-", ".").split(".")),
            vpc_id=vpc.vpc_id,
            vpc_endpoint_type="Interface",
            service_name=found.service_name(Aws.REGION),
            private_dns_enabled=True,
            subnet_ids=subnet_ids,
            security_group_ids=[self.security_group.security_group_id],
            policy_document=self._account_policy(found),
            tags=self._name_tag(found.service),
        )

    def _account_policy(self, found: Endpoint) -> dict[str, Any] | None:
        if found.policy == "none":
            return None
        own = self._own_resources(found)
        statements: list[dict[str, Any]] = [
            {
                "Sid": "OwnCallers",
                "Effect": "Allow",
                "Principal": "*",
                "Action": f"{found.action_prefix}:*",
                "Resource": "*" if own is None else own,
                "Condition": {"StringEquals": {"aws:PrincipalAccount": Aws.ACCOUNT_ID}},
            }
        ]
        if found.policy == "registry":
            statements.append(
                {
                    "Sid": "ImagesOfOthers",
                    "Effect": "Allow",
                    "Principal": "*",
                    "Action": [*unscoped(ECR_ACTIONS), *scoped(ECR_ACTIONS, "repository")],
                    "Resource": "*",
                    "Condition": {"StringEquals": {"aws:PrincipalAccount": Aws.ACCOUNT_ID}},
                }
            )
        if found.policy == "token_service" and self._orchestrator == "eks":
            statements.append(
                {
                    "Sid": "WebIdentities",
                    "Effect": "Allow",
                    "Principal": "*",
                    "Action": WEB_IDENTITY_ACTION,
                    "Resource": f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/*",
                }
            )
        return {"Version": "2012-10-17", "Statement": statements}

    @staticmethod
    def _own_resources(found: Endpoint) -> str | None:
        """What a policy names in place of everything, for services that carry data to other accounts."""
        kinds = {"registry": "ecr", "functions": "lambda", "workspaces": "aps"}
        service = kinds.get(found.policy)
        return None if service is None else f"arn:{Aws.PARTITION}:{service}:*:{Aws.ACCOUNT_ID}:*"

    def _name_tag(self, suffix: str) -> list[CfnTag]:
        return [CfnTag(key="Name", value=f"{self.node.path}/{suffix}")]


def check_endpoint_choice(orchestrator: object, services: object) -> list[Fault]:
    """Check which endpoints are asked for.

    Args:
        orchestrator: ``slurm`` or ``eks``.
        services: Services besides those that the orchestrator requires.

    Returns:
        Every fault found, with the path of the argument.
    """
    faults = []
    if orchestrator not in _ORCHESTRATORS:
        faults.append(Fault(("orchestrator",), f"must be slurm or eks, got {orchestrator!r}"))
    if isinstance(services, str) or not isinstance(services, Sequence):
        return [*faults, Fault(("optional_services",), f"must be a list of services, got {services!r}")]
    for index, service in enumerate(services):
        if service not in ENDPOINTS:
            unknown = UnknownNameError("VPC endpoint service", f"{service}", ENDPOINTS)
            faults.append(
                Fault(
                    ("optional_services", index),
                    f"{unknown}; optional are {', '.join(optional_services())}",
                )
            )
    return faults


def _bucket_name(bucket: AwsOwnedBucket) -> str:
    without_dashes = Fn.join("", Fn.split("-", Aws.REGION))
    return bucket.name.format(region=Aws.REGION, region_without_dashes=without_dashes)
