"""Where the hours of a run go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperpod_lifecycle.goodput.scenario import FailureKind, Scenario
from hyperpod_model.catalog.recovery import RecoveryStageName

Cause = tuple[FailureKind, RecoveryStageName]


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """Expected hours of a run, by what they are spent on. Together they are its whole length.

    Attributes:
        scenario: The run.
        failures: Failures by kind, also those that strike while another is recovered.
        kept_hours: Training whose result is kept.
        stall_hours: Training stopped by saves, where the result of the training between is kept.
        lost_hours: Hours by kind of failure and stage of recovery. ``lost_steps`` is training that is done
            again.
    """

    scenario: Scenario
    failures: Mapping[FailureKind, float]
    kept_hours: float
    stall_hours: float
    lost_hours: Mapping[Cause, float]

    @property
    def goodput(self) -> float:
        """Share of the hours of the job's nodes in which training made progress that was kept."""
        return self.kept_hours / self.scenario.hours

    @property
    def paid_goodput(self) -> float:
        """The same as a share of all that is paid for, spares included."""
        return self.goodput * self.scenario.accelerators / self.scenario.paid_accelerators

    @property
    def all_failures(self) -> float:
        """Failures of all kinds."""
        return sum(self.failures.values())

    @property
    def all_lost_hours(self) -> float:
        """Hours without progress that is kept, stalls included."""
        return self.scenario.hours - self.kept_hours

    @property
    def lost_accelerator_hours(self) -> float:
        """Hours without progress that is kept, of all accelerators that train."""
        return self.all_lost_hours * self.scenario.accelerators

    def lost_to(self, kind: FailureKind) -> float:
        """Hours lost to a kind of failure.

        Args:
            kind: The kind.
        """
        return sum(hours for (cause, _), hours in self.lost_hours.items() if cause == kind)

    def lost_in(self, stage: RecoveryStageName) -> float:
        """Hours lost in a stage of recovery.

        Args:
            stage: The stage.
        """
        return sum(hours for (_, where), hours in self.lost_hours.items() if where == stage)


def lost_accelerator_hours(*, accelerators: int, hours: float, goodput: float) -> float:
    """Return the accelerator-hours that produce nothing at a goodput.

    Args:
        accelerators: How many are paid for.
        hours: For how long.
        goodput: Share of them that makes progress which is kept, 0 to 1.
    """
    return accelerators * hours * (1 - goodput)
