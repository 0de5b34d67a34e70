"""What a run is expected to lose, as data for people and programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from hyperpod_lifecycle.goodput.breakdown import Breakdown
from hyperpod_lifecycle.goodput.by_hand import by_hand, lost_hours_by_hand
from hyperpod_lifecycle.goodput.estimate import estimate
from hyperpod_lifecycle.goodput.from_specs import Derived
from hyperpod_lifecycle.goodput.ladder import Rung, falls
from hyperpod_lifecycle.goodput.scenario import FailureKind
from hyperpod_lifecycle.goodput.simulation import Simulated, simulate
from hyperpod_model.catalog.fact import Fact
from hyperpod_model.catalog.failures import CHECKPOINTLESS_GOODPUT, CHECKPOINTLESS_RECOVERY_REDUCTION

_MINUTES_PER_HOUR: Final = 60
_LONG: Final = 20
"""From so many intervals or replacement times on, where a run begins and ends does not matter."""
_BY_CHANCE: Final = 5
"""So many standard errors are chance."""
_NEGLIGIBLE: Final = 0.0025
"""Share of goodput that nobody decides by."""

RUNG_WORDS: Final = {
    Rung.PEER: "the state of a peer",
    Rung.MEMORY: "a checkpoint in the memory of the nodes",
    Rung.DURABLE: "a durable checkpoint",
}


@dataclass(frozen=True, kw_only=True)
class SentBack:
    """How far back a kind of failure sends the job.

    Attributes:
        kind: The kind.
        rung: Where its state is found again.
        most_minutes: Training that is lost at most.
        mean_minutes: Training that is lost on average.
    """

    kind: FailureKind
    rung: Rung
    most_minutes: float
    mean_minutes: float


@dataclass(frozen=True, kw_only=True)
class Report:
    """What failures are expected to cost, three ways.

    Attributes:
        derived: The run, and where its numbers are from.
        by_hand: Failures multiplied by what each costs.
        expected: In closed form.
        simulated: By simulation; None where nothing was simulated.
    """

    derived: Derived
    by_hand: Breakdown
    expected: Breakdown
    simulated: Simulated | None

    @property
    def caveats(self) -> tuple[str, ...]:
        """Where ``expected`` does not hold, and what does; nothing where it does."""
        scenario = self.derived.scenario
        longest = max(scenario.checkpoint_interval_minutes, scenario.replacement_minutes)
        turns = scenario.hours * _MINUTES_PER_HOUR / longest
        what = (
            "checkpoint intervals"
            if longest == scenario.checkpoint_interval_minutes
            else "replacement times of a node"
        )
        short = f"expected is for long runs, and this one is only {turns:.1f} {what} long"
        if self.simulated is None:
            return () if turns >= _LONG else (f"{short}: take a simulation, --runs 1000",)
        goodput, error = self.simulated.mean.goodput, self.simulated.goodput_error
        apart = goodput - self.expected.goodput
        if abs(apart) <= _BY_CHANCE * error + _NEGLIGIBLE:
            return ()
        why = short if turns < _LONG else "failures come too close together for the closed form"
        return (
            f"expected is {abs(apart) * 100:.1f} points of goodput {'below' if apart > 0 else 'above'} what "
            f"the simulation finds, which is no chance: {why}; take the simulated goodput, {goodput:.2%}",
        )

    @property
    def sent_back(self) -> tuple[SentBack, ...]:
        """How far back each kind of failure sends the job, in the order of the ladder."""
        scenario = self.derived.scenario
        found: dict[FailureKind, SentBack] = {}
        for fall in falls(scenario):
            again = fall.again_hours
            half = lost_hours_by_hand(scenario, fall) - again
            found[fall.kind] = SentBack(
                kind=fall.kind,
                rung=fall.rung,
                most_minutes=(2 * half + again) * _MINUTES_PER_HOUR,
                mean_minutes=(half + again) * _MINUTES_PER_HOUR,
            )
        return tuple(found.values())


def report_of(derived: Derived, *, runs: int, seed: int) -> Report:
    """Compute a report.

    Args:
        derived: The run.
        runs: Simulated runs, 0 for none.
        seed: Of the simulation.
    """
    scenario = derived.scenario
    return Report(
        derived=derived,
        by_hand=by_hand(scenario),
        expected=estimate(scenario),
        simulated=simulate(scenario, runs=runs, seed=seed) if runs else None,
    )


def as_data(report: Report) -> dict[str, Any]:
    """Return a report as plain values for JSON, hours as numbers."""
    scenario = report.derived.scenario
    return {
        "scenario": {
            name: {"value": value, "from": report.derived.origins[name]}
            for name, value in asdict(scenario).items()
        },
        "expected_failures": scenario.expected_failures,
        "by_hand": breakdown_data(report.by_hand),
        "expected": breakdown_data(report.expected),
        "simulated": None if report.simulated is None else _simulated_data(report.simulated),
        "caveats": list(report.caveats),
        "sent_back": [
            {
                "kind": each.kind,
                "to": each.rung.name.lower(),
                "most_minutes": each.most_minutes,
                "mean_minutes": each.mean_minutes,
            }
            for each in report.sent_back
        ],
        "claims_not_used": [claim_data(claim) for claim in CLAIMS],
    }


def breakdown_data(breakdown: Breakdown) -> dict[str, Any]:
    """Return where hours go as plain values for JSON."""
    return {
        "goodput": breakdown.goodput,
        "paid_goodput": breakdown.paid_goodput,
        "failures": dict(breakdown.failures),
        "kept_hours": breakdown.kept_hours,
        "stall_hours": breakdown.stall_hours,
        "lost_hours": [
            {"kind": kind, "stage": stage, "hours": hours}
            for (kind, stage), hours in breakdown.lost_hours.items()
        ],
        "all_lost_hours": breakdown.all_lost_hours,
        "lost_accelerator_hours": breakdown.lost_accelerator_hours,
    }


CLAIMS: Final[tuple[Fact[Any], ...]] = (CHECKPOINTLESS_RECOVERY_REDUCTION, CHECKPOINTLESS_GOODPUT)
"""What AWS says of its own recovery. Nothing here is computed from it."""


def claim_data(claim: Fact[Any]) -> dict[str, Any]:
    """Return a claim as plain values for JSON."""
    value = claim.assuming(because="it is only shown, as a claim")
    return {"what": claim.name, "value": value, "claimed_by": claim.source, "doubt": claim.doubt}


def _simulated_data(simulated: Simulated) -> dict[str, Any]:
    return {
        **breakdown_data(simulated.mean),
        "runs": len(simulated.in_order),
        "goodput_error": simulated.goodput_error,
        "goodput_quantiles": {
            str(share): simulated.quantile(share) for share in (0.05, 0.25, 0.5, 0.75, 0.95)
        },
    }
