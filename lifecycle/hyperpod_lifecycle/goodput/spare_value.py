"""What one more spare node buys."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hyperpod_lifecycle.goodput.breakdown import Breakdown
from hyperpod_lifecycle.goodput.estimate import estimate
from hyperpod_lifecycle.goodput.ladder import falls
from hyperpod_lifecycle.goodput.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class SpareValue:
    """A number of spares and what it leads to.

    Attributes:
        spare_nodes: Nodes that stand by.
        breakdown: What is expected with them.
        waits: Share of failed nodes that find no spare, 0 to 1.
        saved_accelerator_hours: Progress of the job in accelerator-hours that the last of the spares adds.
        cost_accelerator_hours: Accelerator-hours that the last of the spares costs.
    """

    spare_nodes: int
    breakdown: Breakdown
    waits: float
    saved_accelerator_hours: float
    cost_accelerator_hours: float

    @property
    def pays(self) -> bool:
        """Whether the last of the spares saves more than it costs."""
        return self.saved_accelerator_hours > self.cost_accelerator_hours


def spare_values(scenario: Scenario, *, most: int) -> tuple[SpareValue, ...]:
    """Return what each number of spares leads to.

    Args:
        scenario: The run; its own number of spares does not matter.
        most: The highest number.

    Returns:
        One for each number from 0; the first saves and costs nothing.
    """
    values: list[SpareValue] = []
    for number in range(most + 1):
        with_spares = replace(scenario, spare_nodes=number)
        breakdown = estimate(with_spares)
        before = values[-1].breakdown.kept_hours if values else breakdown.kept_hours
        values.append(
            SpareValue(
                spare_nodes=number,
                breakdown=breakdown,
                waits=_waits(with_spares),
                saved_accelerator_hours=(breakdown.kept_hours - before) * scenario.accelerators,
                cost_accelerator_hours=scenario.accelerators_per_node * scenario.hours if values else 0.0,
            )
        )
    return tuple(values)


def _waits(scenario: Scenario) -> float:
    nodes = [fall for fall in falls(scenario) if fall.kind == "node"]
    rate = sum(fall.rate for fall in nodes)
    return 0.0 if rate == 0 else sum(fall.rate for fall in nodes if fall.waits) / rate
