"""Where a cluster is, seen from the stack that watches it."""

from __future__ import annotations

from typing import Any

from aws_cdk import Stack, Token
from constructs import Construct

from hyperpod_constructs.argument_kinds import CLUSTER, check_kind
from hyperpod_model.faults import Fault


def check_cluster(cluster: Any, *, scope: Construct) -> list[Fault]:
    """Check that an argument is a cluster of the region and the account of the stack.

    Events, metrics and logs of a cluster are where the cluster is: elsewhere nothing would ever come. A
    cluster or a stack of which the place is known only at deployment passes.

    Args:
        cluster: The argument.
        scope: Construct that watches the cluster.
    """
    faults = check_kind(cluster, CLUSTER, ("cluster",), required=True)
    if faults:
        return faults
    arn = cluster.cluster_arn
    stack = Stack.of(scope)
    if Token.is_unresolved(arn):
        there = (cluster.env.region, cluster.env.account)
    else:
        _, _, _, region, account, _ = arn.split(":", 5)
        there = (region, account)
    return [
        Fault(
            ("cluster",),
            f"must be of the {what} of the stack, {here}, got one of {place}, where its events, metrics and "
            "logs are; use a stack there",
        )
        for what, place, here in zip(("region", "account"), there, (stack.region, stack.account), strict=True)
        if not Token.is_unresolved(place) and not Token.is_unresolved(here) and place != here
    ]
