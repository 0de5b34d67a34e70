"""`hyperpod-nodes drill`: a rehearsal of a failure."""

from __future__ import annotations

import dataclasses
import sys
import time
from argparse import Namespace

from hyperpod_lifecycle.operations.command.consent import agreed
from hyperpod_lifecycle.operations.command.output import node_data, write
from hyperpod_lifecycle.operations.command.repair import refusal_lines, stake_data, stake_lines, stake_of
from hyperpod_lifecycle.operations.command.site import site_of
from hyperpod_lifecycle.operations.drills import DrillReport, mark, starts_in, watched
from hyperpod_lifecycle.operations.node_names import named
from hyperpod_lifecycle.operations.repairs import RepairPlan, plan_repair


def run(options: Namespace) -> int:
    """Rehearse.

    Returns:
        The exit code: 1 if it is refused or declined, or the job did not recover in time.

    Raises:
        OperationError: If AWS or Slurm refuses.
        UsageError: If nobody can be asked.
    """
    site = site_of(options)
    (node,) = named(site.nodes, [options.node], cluster=site.cluster)
    plan = plan_repair(
        "replace",
        cluster=site.cluster,
        nodes=[node],
        health=site.health(options),
        at_stake=stake_of(options, site.aws),
    )
    refusals = [*plan.refusals, *_no_job(plan, options)]
    lines = [
        f"drill: {node.name} ({node.id}) of {site.cluster.name} is replaced while its job runs",
        *(refusal_lines(refusals) or plan.consequences),
        *([] if refusals else stake_lines(plan.at_stake)),
    ]
    report: DrillReport | None = None
    if not refusals and not options.dry_run:
        print("\n".join(lines), file=sys.stderr if options.format == "json" else sys.stdout, flush=True)
        lines = []
        if not _agreed_twice(plan, options):
            print("nothing was done", file=sys.stderr)
            return 1
        known = starts_in(site.aws, options.recovery_records)
        marked_at = time.time()
        mark(site.hyperpod, plan, by=options.by)
        print(f"marked; waiting for the job, up to {options.timeout_minutes:g} minutes", file=sys.stderr)
        report = watched(
            site.aws,
            records=options.recovery_records,
            node=node,
            marked_at=marked_at,
            known_starts=known,
            timeout_seconds=options.timeout_minutes * 60,
            poll_seconds=options.poll_seconds,
            on_change=lambda news: print("\n".join(_words(news)), file=sys.stderr, flush=True),
        )
        lines = _words(report)
    elif not refusals:
        lines.append("a dry run: nothing was done")
    write(
        options,
        text="".join(f"{line}\n" for line in lines),
        data={
            "cluster": site.cluster.name,
            "dry_run": options.dry_run,
            "node": node_data(node),
            "refusals": refusals,
            "consequences": list(plan.consequences),
            "at_stake": stake_data(plan.at_stake),
            "report": None
            if report is None
            else {**dataclasses.asdict(report), "recovered": report.recovered},
        },
    )
    return 1 if refusals or (report is not None and not report.recovered) else 0


def _no_job(plan: RepairPlan, options: Namespace) -> list[str]:
    if plan.at_stake is not None and plan.at_stake.running:
        return []
    return [
        f"no running job writes to {options.recovery_records}: there is nothing to rehearse; start one, or "
        "name the records of the one that runs"
    ]


def _agreed_twice(plan: RepairPlan, options: Namespace) -> bool:
    (node,) = plan.nodes
    return agreed(
        f"disturb a running job by replacing {node.name} of {plan.cluster.name}?", yes=options.yes >= 1
    ) and agreed(f"sure? {node.id} will be destroyed", yes=options.yes >= 2, answer=node.id)


def _words(report: DrillReport) -> list[str]:
    if report.first_step_minutes is None:
        return ["the job wrote no recovery: it did not resume, or it never left the node"]
    lines = [
        f"first step after {report.first_step_minutes:.1f} minutes, from step {report.resumed_step} "
        f"({report.tier})"
    ]
    if report.caught_up_minutes is None:
        lines.append(f"{report.steps_lost} steps are still being computed again")
    else:
        lines.append(
            f"where it had been after {report.caught_up_minutes:.1f} minutes; {report.steps_lost} steps were "
            "lost"
        )
    stages = ", ".join(
        f"{name.replace('_', ' ')} {spent:.0f} s" for name, spent in report.stage_seconds.items()
    )
    return [*lines, f"stages: {stages}"]
