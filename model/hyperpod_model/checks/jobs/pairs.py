"""What does not go together in one job."""

from __future__ import annotations

from hyperpod_model.catalog.jobs import INCOMPATIBLE_WITH_ELASTIC
from hyperpod_model.checks.jobs.defaults import Job
from hyperpod_model.checks.reading import at, given
from hyperpod_model.faults import Fault, FaultPath, Severity

_REASONS = {
    "checkpointless": "is built for a fixed number of processes",
    "tiered_checkpointing": "keeps checkpoints for a fixed number of processes",
    "spot": "takes nodes away without the signal that a change of their number needs",
}


def check_pairs(job: Job) -> list[Fault]:
    """Check that nothing in a job rules out something else in it.

    Args:
        job: The job.
    """
    if not given(job, "elastic"):
        return []
    faults = []
    for other in INCOMPATIBLE_WITH_ELASTIC:
        if not _has(job, other):
            continue
        # torchrun makes new groups by itself; only the operator's elastic jobs depend on the signal.
        torchrun_can = other == "spot" and at(job, "operator") == "kubeflow"
        path: FaultPath = ("capacity_type",) if other == "spot" else (other,)
        severity: Severity = "warning" if torchrun_can else "error"
        way_out = "try it before relying on it" if torchrun_can else "give nodes for elastic, or leave it out"
        message = (
            f"does not go with elastic training by the documentation: {other} {_REASONS[other]}; {way_out}"
        )
        faults.append(Fault(path, message, severity))
    return faults


def _has(job: Job, feature: str) -> bool:
    return at(job, "capacity_type") == "spot" if feature == "spot" else given(job, feature)
