"""How often training was interrupted in runs that were reported, and what AWS claims of its own recovery."""

from __future__ import annotations

from dataclasses import dataclass

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact, UnknownNameError

_TABLE = table("failures")
_HOURS_PER_DAY = 24


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A training run whose interruptions somebody counted.

    Attributes:
        name: Such as ``llama-3-405b``.
        interruptions: Unexpected ones.
        days: For how long they were counted.
        accelerators: How many trained.
        accelerator: Which.
        hardware_share: Share of the interruptions that hardware caused, between 0 and 1.
        source: Where it was reported.
    """

    name: str
    interruptions: int
    days: int
    accelerators: int
    accelerator: str
    hardware_share: Fact[float]
    source: str

    @property
    def failures_per_device_hour(self) -> float:
        """Interruptions of the job for each accelerator and hour."""
        return self.interruptions / (self.days * _HOURS_PER_DAY * self.accelerators)


def reported_run(name: str) -> ReportedRun:
    """Look a reported run up.

    Args:
        name: Such as ``llama-3-405b``.

    Raises:
        UnknownNameError: If none of that name was reported.
    """
    rows = _TABLE["reported_runs"]
    if name not in rows:
        raise UnknownNameError("reported run", name, rows)
    row = rows[name]
    return ReportedRun(
        name=name,
        interruptions=row["interruptions"],
        days=row["days"],
        accelerators=row["accelerators"],
        accelerator=row["accelerator"],
        hardware_share=fact(
            f"share of hardware in the interruptions of {name}", row["hardware_share"], _TABLE
        ),
        source=_TABLE["source"],
    )


CHECKPOINTLESS_RECOVERY_REDUCTION: Fact[tuple[float, float]] = fact(
    "by how much checkpointless training shortens recovery",
    _TABLE["claims"]["checkpointless_recovery_reduction"],
    _TABLE,
)
"""Least and most, as shares of the time before. A claim of AWS."""

CHECKPOINTLESS_GOODPUT: Fact[float] = fact(
    "goodput with checkpointless training", _TABLE["claims"]["checkpointless_goodput"], _TABLE
)
"""At least this, with thousands of accelerators. A claim of AWS."""
