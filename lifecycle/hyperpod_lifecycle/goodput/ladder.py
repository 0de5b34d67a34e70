"""The recovery ladder: where each kind of failure finds the job's state again, and how long the way takes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from hyperpod_lifecycle.goodput.scenario import FailureKind, Scenario
from hyperpod_lifecycle.goodput.spares import WaitForNode, wait_for_node
from hyperpod_model.catalog.recovery import RecoveryStageName

STAGES_BEFORE_TRAINING: Final[tuple[RecoveryStageName, ...]] = (
    "job_restart",
    "initialization",
    "checkpoint_retrieval",
    "data_loading",
    "first_step",
)
"""In their order. The sixth stage, lost steps, is training."""

_MINUTES_PER_HOUR: Final = 60
_SECONDS_PER_HOUR: Final = 3600


class Rung(IntEnum):
    """What a failure leaves of the job's state; the lower, the further back."""

    PEER = 0
    """Everything: a peer, or the process itself, holds the state of the last step."""

    MEMORY = 1
    """The newest checkpoint in the memory of the nodes."""

    DURABLE = 2
    """The newest checkpoint on a file system or in S3."""


@dataclass(frozen=True, kw_only=True)
class Fall:
    """What a kind of failure does to the job.

    Attributes:
        kind: The kind.
        waits: Whether no spare is left, so that the job waits for a node.
        rate: Such failures an hour.
        rung: What it leaves of the state.
        stage_hours: Hours in each of ``STAGES_BEFORE_TRAINING``.
        again_hours: Training before the checkpoint that is done again, since the checkpoint was not yet
            complete when training went on.
    """

    kind: FailureKind
    waits: bool
    rate: float
    rung: Rung
    stage_hours: tuple[float, ...]
    again_hours: float

    @property
    def recovery_hours(self) -> float:
        """Hours until training is where the checkpoint was begun, if no other failure interrupts."""
        return sum(self.stage_hours) + self.again_hours


def falls_with_nodes(scenario: Scenario) -> tuple[Fall, ...]:
    """Return what each kind of failure does once there are nodes enough again.

    Kinds that never happen are left out.

    Args:
        scenario: The run.
    """
    swap = _spare_hours(scenario) if scenario.spare_nodes > 0 else 0.0
    found = (
        _fall(scenario, "process", scenario.rate("process"), node_hours=0.0),
        _fall(scenario, "node", scenario.rate("node"), node_hours=swap),
        _fall(scenario, "cluster", scenario.rate("cluster"), node_hours=0.0),
    )
    return tuple(fall for fall in found if fall.rate > 0)


def falls(scenario: Scenario) -> tuple[Fall, ...]:
    """Return what each kind of failure does by itself, failed nodes with and without a spare apart.

    Kinds that never happen are left out. How often no spare is left, and how long the job then waits, is for
    independent failures (see :mod:`hyperpod_lifecycle.goodput.spares`).

    Args:
        scenario: The run.
    """
    wait = wait_for_node(
        spare_nodes=scenario.spare_nodes,
        failures_per_hour=scenario.rate("node"),
        replacement_hours=scenario.replacement_minutes / _MINUTES_PER_HOUR,
    )
    nodes = scenario.rate("node")
    found = (
        _fall(scenario, "process", scenario.rate("process"), node_hours=0.0),
        _fall(scenario, "node", nodes * (1 - wait.probability), node_hours=_spare_hours(scenario)),
        _fall(
            scenario, "node", nodes * wait.probability, node_hours=_waiting_hours(scenario, wait), waits=True
        ),
        _fall(scenario, "cluster", scenario.rate("cluster"), node_hours=_replacement_hours(scenario)),
    )
    return tuple(fall for fall in found if fall.rate > 0)


def rung_of(scenario: Scenario, kind: FailureKind) -> Rung:
    """Return what a kind of failure leaves of the job's state.

    Args:
        scenario: The run.
        kind: The kind of failure.
    """
    if kind == "cluster":
        return Rung.DURABLE
    if scenario.checkpointless:
        return Rung.PEER
    return Rung.DURABLE if scenario.memory_interval_minutes is None else Rung.MEMORY


def stage_hours(scenario: Scenario, kind: FailureKind, *, node_hours: float) -> tuple[float, ...]:
    """Return the hours in each of ``STAGES_BEFORE_TRAINING`` after a failure.

    Args:
        scenario: The run.
        kind: The kind of failure.
        node_hours: Until the nodes are there again.
    """
    rung = rung_of(scenario, kind)
    detection = scenario.detection_minutes
    if rung is Rung.PEER:
        # Nothing is started from the beginning and nothing is read: state comes with communication.
        minutes: tuple[float, ...] = (detection, scenario.peer_minutes, 0.0, 0.0, 0.0)
    else:
        retrieval = scenario.memory_retrieval_minutes if rung is Rung.MEMORY else scenario.retrieval_minutes
        minutes = (
            detection + scenario.restart_minutes,
            scenario.initialization_minutes,
            retrieval,
            scenario.data_loading_minutes,
            scenario.first_step_minutes,
        )
    restart, *rest = (value / _MINUTES_PER_HOUR for value in minutes)
    return (restart + node_hours, *rest)


def _fall(
    scenario: Scenario, kind: FailureKind, rate: float, *, node_hours: float, waits: bool = False
) -> Fall:
    rung = rung_of(scenario, kind)
    return Fall(
        kind=kind,
        waits=waits,
        rate=rate,
        rung=rung,
        stage_hours=stage_hours(scenario, kind, node_hours=node_hours),
        again_hours=again_hours(scenario, rung),
    )


def again_hours(scenario: Scenario, rung: Rung) -> float:
    """Return the training that is done again because a checkpoint becomes complete only after its begin.

    Args:
        scenario: The run.
        rung: Where the state is taken from.
    """
    return scenario.save_minutes / _MINUTES_PER_HOUR if rung is Rung.DURABLE else 0.0


def _spare_hours(scenario: Scenario) -> float:
    return scenario.spare_minutes / _MINUTES_PER_HOUR


def _replacement_hours(scenario: Scenario) -> float:
    return scenario.replacement_minutes / _MINUTES_PER_HOUR


def _waiting_hours(scenario: Scenario, wait: WaitForNode) -> float:
    # A node that was waited for is put in the failed one's place as a spare is, unless it never was one.
    return wait.hours + (_spare_hours(scenario) if scenario.spare_nodes > 0 else 0.0)


def training_hours(minutes: float) -> float:
    """Return minutes as hours."""
    return minutes / _MINUTES_PER_HOUR


def stall_hours(seconds: float) -> float:
    """Return seconds as hours."""
    return seconds / _SECONDS_PER_HOUR
