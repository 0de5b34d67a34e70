"""How often a failed node finds no spare, and how long the job then waits."""

from __future__ import annotations

from typing import NamedTuple


class WaitForNode(NamedTuple):
    """What a failed node finds.

    Attributes:
        probability: That no spare is left.
        hours: Mean wait for a node in that case.
    """

    probability: float
    hours: float


def wait_for_node(*, spare_nodes: int, failures_per_hour: float, replacement_hours: float) -> WaitForNode:
    """Estimate how often no spare is left, and the wait for a node in that case.

    Every failed node comes back as a spare after the replacement time. With ``n`` spares the job waits where
    ``n`` nodes are already away: Erlang's loss formula gives how often, whatever the distribution of the
    replacement time. The first of them comes back after ``replacement / (n + 1)`` on average, since their
    ages are spread evenly. Failures while the job waits make it wait longer; the simulation counts that, and
    this does not.

    Args:
        spare_nodes: Nodes that stand by.
        failures_per_hour: Failures of nodes.
        replacement_hours: From a failure until a replacement stands by.
    """
    if failures_per_hour == 0:
        return WaitForNode(0.0, 0.0)
    away = failures_per_hour * replacement_hours
    blocked = 1.0
    for spare in range(1, spare_nodes + 1):
        blocked = away * blocked / (spare + away * blocked)
    return WaitForNode(blocked, replacement_hours / (spare_nodes + 1))
