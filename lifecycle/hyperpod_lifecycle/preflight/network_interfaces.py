"""Whether the account's quota of network interfaces holds those of the nodes."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.quotas import quota_remedy, quotas_of
from hyperpod_lifecycle.preflight.situation import Situation
from hyperpod_model.catalog.instances import instance_types
from hyperpod_model.catalog.limits import NETWORK_INTERFACES_QUOTA_CODE
from hyperpod_model.catalog.preflight import NETWORK_INTERFACES_QUOTA_SERVICE

ABOUT = About("network interfaces")

_PAGE = 1000


def check_network_interfaces(situation: Situation) -> Iterator[Finding]:
    """Check the quota of network interfaces of a region: a node has one for each of its network cards.

    Args:
        situation: The wanted cluster.

    Raises:
        OperationError: If AWS refuses.
    """
    subject = f"quota {NETWORK_INTERFACES_QUOTA_CODE}, network interfaces per region"
    unknown = [group.name for group in situation.wanted.groups if not group.known_types]
    quota = quotas_of(situation, NETWORK_INTERFACES_QUOTA_SERVICE).get(NETWORK_INTERFACES_QUOTA_CODE.lower())
    if quota is None:
        yield ABOUT.cannot_tell(subject, f"Service Quotas does not list it in {situation.wanted.region}")
        return
    there = situation.reads.all("ec2", "DescribeNetworkInterfaces", PaginationConfig={"PageSize": _PAGE})
    needed = _needed(situation)
    try:
        needed = max(0, needed - _held(situation))
    except OperationError as error:
        # Some of them may exist already, as those of the cluster's own nodes.
        if len(there) + needed > quota.value:
            yield ABOUT.cannot_tell(subject, error)
            return
    said = f"it is {quota.value:g}, {len(there)} exist, {needed} more are needed (one for each network card)"
    if len(there) + needed > quota.value:
        yield ABOUT.problem(
            subject,
            said,
            remedy=quota_remedy(
                quota,
                needed=len(there) + needed,
                service=NETWORK_INTERFACES_QUOTA_SERVICE,
                region=situation.wanted.region,
            ),
        )
    elif unknown:
        yield ABOUT.cannot_tell(subject, f"{said}, but the catalog has no type of {', '.join(unknown)}")
    else:
        yield ABOUT.ok(subject, said)


def _needed(situation: Situation) -> int:
    return sum(
        group.count * max((found.network_cards for found in group.known_types), default=0)
        for group in situation.wanted.groups
    )


def _held(situation: Situation) -> int:
    """Interfaces of the cluster's own nodes, where it exists already: they are among those that exist."""
    same = situation.same_cluster()
    listed = instance_types()
    return sum(
        nodes.count * listed[nodes.instance_type].network_cards
        for nodes in (() if same is None else same.nodes)
        if nodes.instance_type in listed
    )
