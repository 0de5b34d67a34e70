"""All checks, with what each asks, and all of them asked at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.preflight import (
    add_ons,
    buckets,
    cluster_name,
    eks_cluster,
    kubernetes_parts,
    network_interfaces,
    quotas,
    resource_types,
    roles,
    security_groups,
    subnets,
    training_plans,
    type_offerings,
    zones,
)
from hyperpod_lifecycle.preflight.findings import About, Finding
from hyperpod_lifecycle.preflight.situation import Situation

_AT_ONCE: Final = 6


class Check(NamedTuple):
    """A question to the account.

    Attributes:
        about: Its name.
        run: Asks it; an ``OperationError`` means that nobody could say.
    """

    about: About
    run: Callable[[Situation], Iterable[Finding]]


CHECKS: Final[tuple[Check, ...]] = (
    Check(cluster_name.ABOUT, cluster_name.check_cluster_name),
    Check(resource_types.ABOUT, resource_types.check_resource_types),
    Check(zones.ABOUT, zones.check_zones),
    Check(type_offerings.ABOUT, type_offerings.check_type_offerings),
    Check(quotas.ABOUT, quotas.check_quotas),
    Check(network_interfaces.ABOUT, network_interfaces.check_network_interfaces),
    Check(training_plans.ABOUT, training_plans.check_training_plans),
    Check(subnets.ABOUT, subnets.check_subnets),
    Check(security_groups.ABOUT, security_groups.check_security_groups),
    Check(buckets.ABOUT, buckets.check_buckets),
    Check(roles.ABOUT, roles.check_roles),
    Check(eks_cluster.ABOUT, eks_cluster.check_eks_cluster),
    Check(add_ons.ABOUT, add_ons.check_add_ons),
    Check(kubernetes_parts.ABOUT, kubernetes_parts.check_kubernetes_parts),
)
"""In the order of the report."""


def findings_of(situation: Situation) -> list[Finding]:
    """Ask everything.

    Args:
        situation: The wanted cluster.

    Returns:
        What was found, in the order of the checks.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [
            found for each in pool.map(lambda check: list(_run(check, situation)), CHECKS) for found in each
        ]


def _run(check: Check, situation: Situation) -> Iterator[Finding]:
    try:
        yield from check.run(situation)
    except OperationError as error:
        yield check.about.cannot_tell(situation.wanted.name, error)
