"""A rehearsal of a failure: a node is marked for replacement while a job runs, and its recovery is timed."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.clusters import HyperPod, Node
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.repairs import RepairPlan, carry_out
from hyperpod_lifecycle.operations.stakes import local_records, read_all
from hyperpod_model.catalog.nodes import REPLACE_REASON

MarkedBy = Literal["api", "slurm"]

_SECONDS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillReport:
    """What a rehearsal showed.

    Attributes:
        node: The node that was marked.
        marked_at: When, seconds since 1970.
        first_step_minutes: Until the job did its first step after that; None if it did not.
        caught_up_minutes: Until it was where it had been; None if it was not.
        steps_lost: Steps computed again; None if the job did not resume.
        resumed_step: Step that it went on with; None if it did not resume.
        tier: Where its state came from; None if it did not resume.
        stage_seconds: By stage of recovery, those that are over.
    """

    node: str
    marked_at: float
    first_step_minutes: float | None = None
    caught_up_minutes: float | None = None
    steps_lost: int | None = None
    resumed_step: int | None = None
    tier: str | None = None
    stage_seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def recovered(self) -> bool:
        """Whether the job is where it had been."""
        return self.caught_up_minutes is not None


def mark(hyperpod: HyperPod, plan: RepairPlan, *, by: MarkedBy) -> None:
    """Mark the one node of a plan for replacement.

    Args:
        hyperpod: The API.
        plan: Replaces one node, and is not refused.
        by: ``api`` replaces it by HyperPod's API; ``slurm`` sets it to fail, as HyperPod's own agent does, so
            that auto-resume sees it first.

    Raises:
        OperationError: If it is not taken on.
    """
    (node,) = plan.nodes
    if by == "slurm":
        _mark_in_slurm(node)
        return
    for outcome in carry_out(hyperpod, plan):
        if not outcome.taken:
            raise OperationError("refused", f"{node.name} ({node.id}) is not replaced: {outcome.why_not}")


def watched(
    aws: Aws,
    *,
    records: str,
    node: Node,
    marked_at: float,
    known_starts: frozenset[str],
    timeout_seconds: float,
    poll_seconds: float,
    on_change: Callable[[DrillReport], None] = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.time,
) -> DrillReport:
    """Watch the records of a job until it has recovered.

    Args:
        aws: Clients, for records in a bucket.
        records: Folder or ``s3://`` URI.
        node: The node that was marked.
        marked_at: When, seconds since 1970.
        known_starts: Starts of the job that there were before.
        timeout_seconds: Give up after this.
        poll_seconds: Between two looks.
        on_change: Told when there is news.
        sleep: Waits.
        clock: Seconds since 1970.

    Returns:
        What was seen, also where the time was up.

    Raises:
        OperationError: If the records cannot be read.
    """
    seen = DrillReport(node=node.id, marked_at=marked_at)
    while True:
        with local_records(aws, records) as folder:
            now = _report(read_all(folder), seen, known_starts)
        if now != seen:
            seen = now
            on_change(seen)
        if seen.recovered or clock() - marked_at >= timeout_seconds:
            return seen
        sleep(poll_seconds)


def starts_in(aws: Aws, records: str) -> frozenset[str]:
    """Return the starts that a job's records tell of.

    Raises:
        OperationError: If the records cannot be read.
    """
    with local_records(aws, records) as folder:
        return frozenset(str(record["attempt"]) for record in read_all(folder))


def _report(
    records: list[Mapping[str, Any]], before: DrillReport, known_starts: frozenset[str]
) -> DrillReport:
    told = [one for one in records if one["kind"] == "recovery" and one["attempt"] not in known_starts]
    if not told:
        return before
    first = told[0]
    last = told[-1]
    done = [one for one in told if one["complete"]]
    return DrillReport(
        node=before.node,
        marked_at=before.marked_at,
        first_step_minutes=(first["time"] - before.marked_at) / 60,
        caught_up_minutes=(done[-1]["time"] - before.marked_at) / 60 if done else None,
        steps_lost=last["steps_lost"],
        resumed_step=last["resumed_step"],
        tier=last["tier"],
        stage_seconds={name: spent for name, spent in last["seconds"].items() if spent is not None},
    )


def _mark_in_slurm(node: Node) -> None:
    program = shutil.which("scontrol")
    if program is None or node.slurm_name is None:
        missing = (
            "scontrol is not on this machine" if program is None else f"{node.name} has no name in Slurm"
        )
        raise OperationError("unsuitable", f"{missing}; run this on the controller, or say --by api")
    command = [program, "update", f"node={node.slurm_name}", "state=fail", f"reason={REPLACE_REASON}"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise OperationError("unreachable", f"Slurm's controller does not answer: {error}") from error
    if ran.returncode != 0:
        raise OperationError("refused", f"Slurm refuses: {ran.stderr}")
