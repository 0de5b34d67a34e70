"""VPC endpoints: what a cluster without internet access calls, through which endpoint, and which buckets."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact, UnknownNameError

Orchestrator = Literal["slurm", "eks"]


class Endpoint(NamedTuple):
    """An AWS service that a VPC can reach by itself.

    Attributes:
        service: Last part of the service's name, such as ``ecr.api``.
        kind: ``Gateway`` or ``Interface``.
        required_by: Orchestrators that do not work without it; empty where it is for some set-ups only.
        policy: What its policy can say: ``buckets`` pins buckets, ``account`` pins the caller's account,
            ``registry`` also the repositories that are written, ``functions`` the functions,
            ``workspaces`` the workspaces of Prometheus, ``token_service`` is ``account`` with room for web
            identities, ``none`` where no policy is known to be taken.
        purpose: What it is for.
        action_prefix: Service prefix of its IAM actions, such as ``ecr``.
    """

    service: str
    kind: Literal["Gateway", "Interface"]
    required_by: tuple[str, ...]
    policy: Literal["buckets", "account", "registry", "functions", "workspaces", "token_service", "none"]
    purpose: str
    action_prefix: str

    def service_name(self, region: str) -> str:
        """Full name of the service.

        Args:
            region: Such as ``us-west-2``; may be a CDK Token.
        """
        template: str = _TABLE["service_name"]
        return template.format(region=region, service=self.service)


class AwsOwnedBucket(NamedTuple):
    """A bucket of AWS that clusters need.

    Attributes:
        name: With ``{region}`` or ``{region_without_dashes}`` in place of the region.
        action: What is done to its objects.
        read_by: Orchestrators whose nodes need it.
        endpoint: The interface endpoint without which nobody needs it; None if it is always needed.
        purpose: What it holds.
    """

    name: str
    action: str
    read_by: tuple[str, ...]
    endpoint: str | None
    purpose: str


class BootCall(NamedTuple):
    """A call that nodes, pods or installers make until a cluster is in service.

    Attributes:
        action: IAM action, such as ``ecr:BatchGetImage``.
        endpoints: Services of the endpoints that carry it.
        resource: ``own_bucket``, ``own_object``, ``own_role``, ``own_function``, ``foreign_repository``, the
            name of an AWS-owned bucket, or ``any``.
        orchestrators: Where it is made.
        caller: ``execution_role``, ``installer`` (both roles of the account), ``presigned`` (a URL that AWS
            signed) or ``nobody`` (an unsigned request).
    """

    action: str
    endpoints: tuple[str, ...]
    resource: str
    orchestrators: tuple[str, ...]
    caller: str


_TABLE = table("endpoints")


def _endpoint(service: str, row: Mapping[str, Any]) -> Endpoint:
    return Endpoint(
        service=service,
        kind=row["kind"],
        required_by=tuple(row["required_by"]),
        policy=row["policy"],
        purpose=row["purpose"],
        action_prefix=_TABLE["service_prefixes"].get(service, service),
    )


ENDPOINTS: Mapping[str, Endpoint] = MappingProxyType(
    {service: _endpoint(service, row) for service, row in _TABLE["endpoints"].items()}
)
"""All endpoints by service."""

AWS_OWNED_BUCKETS: tuple[AwsOwnedBucket, ...] = tuple(
    AwsOwnedBucket(row["name"], row["action"], tuple(row["read_by"]), row.get("endpoint"), row["purpose"])
    for row in _TABLE["aws_owned_buckets"]
)

AWS_OWNED_BUCKETS_COMPLETE: Fact[bool] = fact(
    "completeness of the AWS-owned buckets of a cluster", _TABLE["aws_owned_buckets_complete"], _TABLE
)

NODE_PRINCIPALS_ARE_OURS: Fact[bool] = fact(
    "nodes call AWS services as roles of the cluster's account", _TABLE["node_principals"], _TABLE
)

POLICIES_TAKEN: Fact[tuple[str, ...]] = fact(
    "services whose endpoints take a policy", _TABLE["policies_taken"], _TABLE
)

BOOT_CALLS: tuple[BootCall, ...] = tuple(
    BootCall(
        row["action"],
        tuple(row["endpoints"]),
        row.get("resource", "any"),
        tuple(row["orchestrators"]),
        row["caller"],
    )
    for row in _TABLE["boot_calls"]
)

WEB_IDENTITY_ACTION: str = _TABLE["web_identity_action"]
"""The one call of STS that nobody signs: IRSA."""


def endpoint(service: str) -> Endpoint:
    """Look an endpoint up.

    Args:
        service: Such as ``ecr.api``.

    Raises:
        UnknownNameError: If the catalog does not list it.
    """
    if service not in ENDPOINTS:
        raise UnknownNameError("VPC endpoint service", service, ENDPOINTS)
    return ENDPOINTS[service]


def required_endpoints(orchestrator: Orchestrator) -> tuple[Endpoint, ...]:
    """The endpoints without which a cluster in an isolated network does not come into service.

    Args:
        orchestrator: ``slurm`` or ``eks``.
    """
    return tuple(found for found in ENDPOINTS.values() if orchestrator in found.required_by)


def optional_services() -> tuple[str, ...]:
    """Services of the endpoints that no orchestrator requires, sorted."""
    return tuple(sorted(service for service, found in ENDPOINTS.items() if not found.required_by))


def aws_owned_buckets(orchestrator: Orchestrator, services: tuple[str, ...]) -> tuple[AwsOwnedBucket, ...]:
    """The buckets of AWS that nodes and installers need.

    Args:
        orchestrator: ``slurm`` or ``eks``.
        services: Services of the endpoints that there are.
    """
    return tuple(
        bucket
        for bucket in AWS_OWNED_BUCKETS
        if (orchestrator in bucket.read_by if bucket.endpoint is None else bucket.endpoint in services)
    )
