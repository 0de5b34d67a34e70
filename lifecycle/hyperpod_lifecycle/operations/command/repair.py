"""`hyperpod-nodes replace` and `hyperpod-nodes reboot`."""

from __future__ import annotations

import dataclasses
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from hyperpod_lifecycle.operations.aws import Aws
from hyperpod_lifecycle.operations.bounded_looks import within
from hyperpod_lifecycle.operations.clusters import Node
from hyperpod_lifecycle.operations.command.consent import agreed
from hyperpod_lifecycle.operations.command.output import node_data, write
from hyperpod_lifecycle.operations.command.site import Site, site_of
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.node_names import named
from hyperpod_lifecycle.operations.repairs import RepairOutcome, RepairPlan, carry_out, plan_repair
from hyperpod_lifecycle.operations.saves_under_way import Saves, saves_at, still_under_way, wait_for
from hyperpod_lifecycle.operations.spans import span
from hyperpod_lifecycle.operations.stakes import AtStake, at_stake
from hyperpod_model.command_line.output import emit
from hyperpod_model.command_line.parser import UsageError

_ANSWER_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 5.0
_Seen = TypeVar("_Seen")


def run(options: Namespace) -> int:
    """Repair.

    Returns:
        The exit code: 1 if it is refused or declined, a node was not taken, or a save went on for longer than
        the user waits.

    Raises:
        OperationError: If AWS refuses.
        UsageError: If nobody can be asked, or a save is to be waited for and nobody said where.
    """
    if options.wait_for_save is not None and options.checkpoints is None:
        raise UsageError("--wait-for-save looks for saves in the checkpoints: say --checkpoints PLACE")
    site = site_of(options)
    nodes = named(site.nodes, options.nodes, cluster=site.cluster)
    plan = _plan(site, nodes, options)
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
    if options.wait_for_save is not None:
        try:
            plan = _after_the_save(plan, options)
        except KeyboardInterrupt:
            print("interrupted while it waited for the save: nothing was done", file=sys.stderr)
            raise
        if plan.refusals:
            write(
                options,
                text="".join(f"{line}\n" for line in refusal_lines(plan.refusals)),
                data=_data(plan, options, ()),
            )
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
    places = [place for place in (options.recovery_records, options.checkpoints) if place is not None]
    try:
        return _looked(
            places,
            lambda: at_stake(aws, records=options.recovery_records, checkpoints=options.checkpoints),
        )
    except OperationError as error:
        if error.why != "unreachable" or _in_s3(places):
            raise
        # Nodes are repaired also where the file system is what is down.
        return AtStake(unknown=str(error), saves=Saves(looked_at=time.time(), unknown=str(error)))


def _looked(places: Sequence[str], look: Callable[[], _Seen]) -> _Seen:
    """Look at places; at folders within a bound, which requests to S3 have of their own."""
    return look() if _in_s3(places) else within(_ANSWER_SECONDS, look, what=" and ".join(places))


def _in_s3(places: Sequence[str]) -> bool:
    return all(place.startswith("s3://") for place in places)


def _plan(site: Site, nodes: Sequence[Node], options: Namespace) -> RepairPlan:
    return plan_repair(
        options.action,
        cluster=site.cluster,
        nodes=nodes,
        health=site.health(options),
        at_stake=stake_of(options, site.aws),
    )


def _after_the_save(plan: RepairPlan, options: Namespace) -> RepairPlan:
    """Wait for the saves that are under way, and plan anew if that took time.

    Raises:
        OperationError: If saves cannot be seen, or a node went away meanwhile.
    """
    saves = None if plan.at_stake is None else plan.at_stake.saves
    if saves is None or saves.unknown is not None:
        why = "" if saves is None else f": {saves.unknown}"
        raise OperationError(
            "unsuitable",
            f"a save cannot be seen{why}; nothing was done: leave --wait-for-save out to "
            f"{plan.action} all the same",
        )
    if not saves.under_way:
        return plan
    wanted = {save.attempt for save in saves.under_way}
    steps = " and ".join(str(save.step) for save in saves.under_way)
    limit = options.wait_for_save * 60
    print(f"waiting up to {span(limit)} for the save of step {steps}", file=sys.stderr, flush=True)
    site = site_of(options)

    def look() -> Saves:
        return _looked([options.checkpoints], lambda: saves_at(site.aws, options.checkpoints))

    seen = wait_for(saves, look=look, seconds=limit, poll_seconds=_POLL_SECONDS)
    if seen.unknown is not None:
        raise OperationError(
            "unsuitable",
            f"whether the save goes on cannot be seen any more: {seen.unknown}; nothing was done",
        )
    if still := still_under_way(seen, wanted):
        left = " and ".join(str(save.step) for save in still)
        return dataclasses.replace(
            plan,
            refusals=(
                f"the save of step {left} is still under way after {span(limit)}: nothing was done; wait "
                f"longer, or leave --wait-for-save out to {plan.action} all the same",
            ),
        )
    site = site_of(options)
    fresh = _plan(site, named(site.nodes, [node.id for node in plan.nodes], cluster=site.cluster), options)
    words = "" if fresh.at_stake is None else f": {fresh.at_stake.words}"
    print(f"the save of step {steps} has ended{words}", file=sys.stderr, flush=True)
    return fresh


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
    if plan.refusals:
        return "".join(f"{line}\n" for line in (*lines, *refusal_lines(plan.refusals)))
    lines += plan.consequences
    lines += stake_lines(plan.at_stake)
    if options.wait_for_save is not None:
        lines.append(f"a save that is under way is waited for, up to {span(options.wait_for_save * 60)}")
    if options.dry_run:
        lines.append("a dry run: nothing was done")
    return "".join(f"{line}\n" for line in lines)


def _summary(plan: RepairPlan, outcomes: Sequence[RepairOutcome]) -> str:
    failed = sum(not outcome.taken for outcome in outcomes)
    if failed:
        return f"{failed} of {len(outcomes)} nodes were not taken on\n"
    return f"follow it with: hyperpod-nodes watch {plan.cluster.name} {plan.cluster.where}\n"


def _interrupted(plan: RepairPlan, outcomes: Sequence[RepairOutcome]) -> str:
    taken = [outcome.node.id for outcome in outcomes if outcome.taken]
    doubtful = [node.id for node in plan.in_doubt(len(outcomes))]
    rest = len(plan.nodes) - len(outcomes) - len(doubtful)
    return (
        f"taken on before the interrupt: {', '.join(taken) or 'none'}; perhaps taken on: "
        f"{', '.join(doubtful) or 'none'}; not asked for: {rest} nodes; see 'hyperpod-nodes list "
        f"{plan.cluster.name} {plan.cluster.where}'"
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


def stake_lines(stake: AtStake | None) -> list[str]:
    """Return what is at stake, for people."""
    if stake is None:
        return ["what a job loses is not known: say --recovery-records or --checkpoints"]
    if stake.saves is None:
        return [stake.words, "whether a save is under way is not known: say --checkpoints"]
    return [stake.words, *stake.saves.lines]


def stake_data(stake: AtStake | None) -> dict[str, Any] | None:
    """Return what is at stake, for programs."""
    if stake is None:
        return None
    return {**dataclasses.asdict(stake), "seconds": stake.seconds, "running": stake.running}
