"""The cluster that a user means, asked once."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.clusters import Cluster, HyperPod, Node, region_of
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.node_health import HealthView, health_of


@dataclass(frozen=True, kw_only=True)
class Site:
    """A cluster, and what asks about it.

    Attributes:
        aws: Clients.
        hyperpod: HyperPod's API.
        cluster: The cluster.
        nodes: All its nodes.
    """

    aws: Aws
    hyperpod: HyperPod
    cluster: Cluster
    nodes: list[Node]

    def health(self, options: Namespace) -> HealthView:
        """Ask the orchestrator about all nodes."""
        return health_of(self.aws, self.cluster, self.nodes, kube_context=options.kube_context)


def aws_of(options: Namespace) -> Aws:
    """Return the clients that a user means.

    Raises:
        OperationError: If no region is said, or two different ones.
    """
    named = None if options.cluster is None else region_of(options.cluster)
    if named is not None and options.region not in (None, named):
        raise OperationError(
            "wrong_region", f"the cluster's ARN is of {named}, and --region says {options.region}; say one"
        )
    return Aws(region=options.region if named is None else named, profile=options.profile)


def site_of(options: Namespace, *, aws: Aws | None = None, hosts: bool = True) -> Site:
    """Ask for the cluster and its nodes.

    Args:
        options: With ``cluster``, ``region`` and ``profile``.
        aws: Clients, which learn how fast they may ask. Default: new ones.
        hosts: Whether private DNS names are needed.

    Raises:
        OperationError: If AWS refuses.
    """
    aws = aws_of(options) if aws is None else aws
    hyperpod = HyperPod(aws)
    cluster = hyperpod.cluster(options.cluster)
    return Site(aws=aws, hyperpod=hyperpod, cluster=cluster, nodes=hyperpod.nodes(cluster, hosts=hosts))
