"""How often a failed node finds no spare, how long the job then waits, and how much of the run that takes.

Every failed node comes back as a spare after the replacement time, and nodes fail also while the job stands
still. So the nodes that are away at a moment are those that failed within one replacement time: Poisson's
distribution with ``failures_per_hour * replacement_hours`` as its mean, whatever the distribution of the
replacement time (the M/G/infinity queue: L. Takacs, Introduction to the Theory of Queues, 1962, chapter 3).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, NamedTuple

_PIECES: Final = 400
"""Of the replacement time, in the sum over when the last failure was; the error is below a millionth."""


class WaitForNode(NamedTuple):
    """What a failed node finds.

    Attributes:
        probability: That no spare is left.
        hours: Mean wait for a node in that case.
    """

    probability: float
    hours: float


class Standstill(NamedTuple):
    """Shares of the time in which the job waits for nodes, by the kind of the failure that was the last.

    Attributes:
        process: After the failure of a process: it does not end the wait.
        node: After the failure of a node.
        cluster: After a failure of all nodes.
    """

    process: float
    node: float
    cluster: float


def wait_for_node(*, spare_nodes: int, failures_per_hour: float, replacement_hours: float) -> WaitForNode:
    """Return how often no spare is left, and the mean wait for a node in that case.

    With ``n`` spares a failed node waits until the ``n``-th failure before it is a replacement time ago.
    Exact for failures that are independent and a replacement time that does not vary.

    Args:
        spare_nodes: Nodes that stand by.
        failures_per_hour: Failures of nodes.
        replacement_hours: From a failure until a replacement stands by.
    """
    if failures_per_hour == 0 or replacement_hours == 0:
        return WaitForNode(0.0, 0.0)
    away = failures_per_hour * replacement_hours
    none_left = _more_than(spare_nodes - 1, away)
    if none_left == 0.0:
        return WaitForNode(0.0, 0.0)
    waits = _more_than(spare_nodes, away)
    hours = replacement_hours - spare_nodes / failures_per_hour * waits / none_left
    return WaitForNode(none_left, max(hours, 0.0))


@lru_cache(maxsize=256)  # the same for each interval that is tried
def standstill(
    *,
    spare_nodes: int,
    replacement_hours: float,
    process_failures: float,
    node_failures: float,
    cluster_failures: float,
) -> Standstill:
    """Return the shares of the time in which the job waits for nodes.

    It waits while more nodes are away than there are spares, and for a replacement time after all failed. The
    kinds are told apart by which failure was the last: of a kind with rate ``r``, ``u`` hours ago, with none
    since, and the job waiting all the same, which is summed up over ``u``.

    Args:
        spare_nodes: Nodes that stand by.
        replacement_hours: From a failure until a replacement stands by.
        process_failures: Failures of processes an hour.
        node_failures: Failures of nodes an hour.
        cluster_failures: Failures of all nodes an hour.
    """
    every = process_failures + node_failures + cluster_failures
    if every == 0 or replacement_hours == 0:
        return Standstill(0.0, 0.0, 0.0)
    piece = replacement_hours / _PIECES
    shares = {"process": 0.0, "node": 0.0, "cluster": 0.0}
    for number in range(_PIECES):
        # The middle of a piece, with what the exponential is on its average there.
        before = replacement_hours - (number + 0.5) * piece
        weight = math.exp(-every * number * piece) * -math.expm1(-every * piece) / every
        no_cluster = math.exp(-cluster_failures * before)
        away = node_failures * before
        shares["process"] += process_failures * weight * _either(_more_than(spare_nodes, away), no_cluster)
        shares["node"] += node_failures * weight * _either(_more_than(spare_nodes - 1, away), no_cluster)
        shares["cluster"] += cluster_failures * weight
    return Standstill(**shares)


def mean_shortage_hours(*, spare_nodes: int, failures_per_hour: float, replacement_hours: float) -> float:
    """Return how long more nodes are away than there are spares, once they are.

    Args:
        spare_nodes: Nodes that stand by.
        failures_per_hour: Failures of nodes.
        replacement_hours: From a failure until a replacement stands by.
    """
    away = failures_per_hour * replacement_hours
    begins = failures_per_hour * _exactly(spare_nodes, away)
    return 0.0 if begins == 0 else _more_than(spare_nodes, away) / begins


def shortages_per_hour(*, spare_nodes: int, failures_per_hour: float, replacement_hours: float) -> float:
    """Return how often an hour in which spares suffice ends with a failed node that finds none.

    Args:
        spare_nodes: Nodes that stand by.
        failures_per_hour: Failures of nodes.
        replacement_hours: From a failure until a replacement stands by.
    """
    away = failures_per_hour * replacement_hours
    return failures_per_hour * _exactly(spare_nodes, away) / (1.0 - _more_than(spare_nodes, away))


def _exactly(number: int, mean: float) -> float:
    if mean == 0:
        return float(number == 0)
    return math.exp(number * math.log(mean) - mean - math.lgamma(number + 1))


def _more_than(number: int, mean: float) -> float:
    """Return Poisson's probability of more than a number."""
    if number < 0:
        return 1.0
    if number < mean:
        return 1.0 - math.fsum(_exactly(count, mean) for count in range(number + 1))
    # The tail itself: what is left of 1 would be rounding.
    total, count = 0.0, number + 1
    term = _exactly(count, mean)
    while term > total * 1e-17:
        total += term
        count += 1
        term *= mean / count
    return total


def _either(short: float, no_cluster: float) -> float:
    return short * no_cluster + (1.0 - no_cluster)
