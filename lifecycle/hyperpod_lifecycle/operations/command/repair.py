"""`hyperpod-nodes replace` and `hyperpod-nodes reboot`."""

from __future__ import annotations

import dataclasses
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.clusters import Node
from hyperpod_lifecycle.operations.command.consent import agreed
from hyperpod_lifecycle.operations.command.output import node_data, write
from hyperpod_lifecycle.operations.command.site import site_of
from hyperpod_lifecycle.operations.node_names import named
from hyperpod_lifecycle.operations.repairs import RepairOutcome, RepairPlan, carry_out, plan_repair
from hyperpod_lifecycle.operations.stakes import AtStake, at_stake
from hyperpod_model.command_line.output import emit
from hyperpod_model.command_line.parser import UsageError


def run(options: Namespace) -> int:
    """Repair.

    Returns:
        The exit code: 1 if it is refused or declined, or a node was not taken.

    Raises:
        OperationError: If AWS refuses.
        UsageError: If nobody can be asked.
    """
    site = site_of(options)
    nodes = named(site.nodes, options.nodes, cluster=site.cluster)
    plan = plan_repair(
        options.action,
        cluster=site.cluster,
        nodes=nodes,
        health=site.health(options),
        at_stake=stake_of(options, site.aws),
    )
    if plan.refusals or options.dry_run:
        write(options, text=_planned(plan, options), data=_data(plan, options, ()))
        return 1 if plan.refusals else 0
    if options.yes and options.action == "replace":
        _refuse_numbers(options.nodes, nodes)
    # The plan is read before the question, whatever the format of the answer is.
    print(_planned(plan, options), end="", file=sys.stderr if options.format == "json" else sys.stdout)
    sys.stdout.flush()
    many = f"{len(nodes)} nodes" if len(nodes) > 1 else nodes[0].name
    if not agreed(f"{options.action} {many} of {site.cluster.name}?", yes=options.yes):
        print("nothing was done", file=sys.stderr)
        return 1
    outcomes: list[RepairOutcome] = []
    try:
        for outcome in carry_out(site.hyperpod, plan):
            outcomes.append(outcome)
            if options.format == "text":
                # At once: whoever interrupts must know what was begun.
                emit(f"{outcome.node.name} ({outcome.node.id}): {_fate(plan, outcome)}\n")
    except KeyboardInterrupt:
        print(_interrupted(plan, outcomes), file=sys.stderr)
        raise
    write(options, text=_summary(plan, outcomes), data=_data(plan, options, outcomes))
    return 0 if all(outcome.taken for outcome in outcomes) else 1


def _refuse_numbers(wanted: Sequence[str], nodes: Sequence[Node]) -> None:
    """Refuse names by group and number where nobody reads the plan: a replacement shifts the numbers.

    The same command run again would replace another node, a healthy one.
    """
    by_number = {node.name: node.id for node in nodes}
    shifting = [f"'{name}', now {by_number[name]}" for name in wanted if name in by_number]
    if shifting:
        raise UsageError(
            "replace --yes takes instance ids and host names, since numbers shift when a node is replaced; "
            f"got {' and '.join(shifting)}"
        )


def stake_of(options: Namespace, aws: Aws) -> AtStake | None:
    """Return what a job loses, where the user said where to look."""
    return at_stake(aws, records=options.recovery_records, checkpoints=options.checkpoints)


def refusal_lines(refusals: Sequence[str]) -> list[str]:
    """Return a line for each refusal."""
    return [f"refused: {refusal}" for refusal in refusals]


def _planned(plan: RepairPlan, options: Namespace) -> str:
    lines = [f"{plan.action} {len(plan.nodes)} of the nodes of {plan.cluster.name} in {plan.cluster.region}:"]
    lines += [
        f"  {node.name}: {node.id}, {node.host if node.host is not None else 'no DNS name'}, {node.status}"
        for node in plan.nodes
    ]
    if len(plan.batches) > 1:
        lines.append(f"in {len(plan.batches)} requests of at most {len(plan.batches[0])} nodes")
    lines += plan.consequences
    lines.append(
        "what a job loses is not known: say --recovery-records or --checkpoints"
        if plan.at_stake is None
        else plan.at_stake.words
    )
    lines += refusal_lines(plan.refusals)
    if options.dry_run and not plan.refusals:
        lines.append("a dry run: nothing was done")
    return "".join(f"{line}\n" for line in lines)


def _summary(plan: RepairPlan, outcomes: Sequence[RepairOutcome]) -> str:
    failed = sum(not outcome.taken for outcome in outcomes)
    if failed:
        return f"{failed} of {len(outcomes)} nodes were not taken on\n"
    return f"follow it with: hyperpod-nodes watch {plan.cluster.name}\n"


def _interrupted(plan: RepairPlan, outcomes: Sequence[RepairOutcome]) -> str:
    taken = [outcome.node.id for outcome in outcomes if outcome.taken]
    doubtful = [node.id for node in plan.in_doubt(len(outcomes))]
    rest = len(plan.nodes) - len(outcomes) - len(doubtful)
    return (
        f"taken on before the interrupt: {', '.join(taken) or 'none'}; perhaps taken on: "
        f"{', '.join(doubtful) or 'none'}; not asked for: {rest} nodes; see 'hyperpod-nodes list "
        f"{plan.cluster.name}'"
    )


def _fate(plan: RepairPlan, outcome: RepairOutcome) -> str:
    if outcome.taken:
        return "is being replaced" if plan.action == "replace" else "is being rebooted"
    return f"NOT taken on: {outcome.why_not}"


def _data(plan: RepairPlan, options: Namespace, outcomes: Sequence[RepairOutcome]) -> dict[str, Any]:
    return {
        "action": plan.action,
        "cluster": plan.cluster.name,
        "region": plan.cluster.region,
        "dry_run": options.dry_run,
        "nodes": [node_data(node) for node in plan.nodes],
        "refusals": list(plan.refusals),
        "consequences": list(plan.consequences),
        "at_stake": stake_data(plan.at_stake),
        "outcomes": [
            {
                "name": outcome.node.name,
                "id": outcome.node.id,
                "taken": outcome.taken,
                "why_not": outcome.why_not,
            }
            for outcome in outcomes
        ],
    }


def stake_data(stake: AtStake | None) -> dict[str, Any] | None:
    """Return what is at stake, for programs."""
    if stake is None:
        return None
    return {**dataclasses.asdict(stake), "seconds": stake.seconds, "running": stake.running}
