"""`hyperpod-nodes update-software`: a newer image on the nodes of a cluster."""

from __future__ import annotations

import sys
from argparse import Namespace

from hyperpod_lifecycle.operations.command.consent import agreed
from hyperpod_lifecycle.operations.command.output import node_data, write
from hyperpod_lifecycle.operations.command.repair import refusal_lines
from hyperpod_lifecycle.operations.command.site import site_of
from hyperpod_lifecycle.operations.software import BatchSize, SoftwarePlan, plan_update


def run(options: Namespace) -> int:
    """Update.

    Returns:
        The exit code: 1 if it is refused or declined.

    Raises:
        OperationError: If AWS refuses.
        UsageError: If nobody can be asked.
    """
    site = site_of(options, hosts=False)
    plan = plan_update(
        cluster=site.cluster,
        nodes=site.nodes,
        groups=options.group,
        all_groups=options.all_groups,
        image_id=options.image_id,
        release_version=options.release_version,
        batch=_size(options.batch_nodes, options.batch_percent),
        rollback_batch=_size(options.rollback_batch_nodes, options.rollback_batch_percent),
        wait_seconds=options.wait_seconds,
        rollback_alarms=options.rollback_alarm,
    )
    lines = [*_named(plan), *(refusal_lines(plan.refusals) or plan.consequences)]
    started = False
    if not plan.refusals and not options.dry_run:
        print("\n".join(lines), file=sys.stderr if options.format == "json" else sys.stdout, flush=True)
        lines = []
        if not agreed(f"update {len(plan.nodes)} nodes of {site.cluster.name}?", yes=options.yes):
            print("nothing was done", file=sys.stderr)
            return 1
        site.hyperpod.update_software(plan.request)
        started = True
        lines.append(
            f"started; follow it with: hyperpod-nodes watch {site.cluster.name} {site.cluster.where}"
        )
    elif not plan.refusals:
        lines.append("a dry run: nothing was done")
    write(
        options,
        text="".join(f"{line}\n" for line in lines),
        data={
            "cluster": site.cluster.name,
            "dry_run": options.dry_run,
            "started": started,
            "request": plan.request,
            "nodes": [node_data(node) for node in plan.nodes],
            "refusals": list(plan.refusals),
            "consequences": list(plan.consequences),
        },
    )
    return 1 if plan.refusals else 0


def _named(plan: SoftwarePlan) -> list[str]:
    by_group: dict[str, list[str]] = {}
    for node in plan.nodes:
        by_group.setdefault(node.group, []).append(node.id)
    lines = [f"update the software of {plan.cluster.name} in {plan.cluster.region}:"]
    for name, ids in by_group.items():
        group = plan.cluster.group(name)
        version = "unknown" if group is None or group.image_version is None else group.image_version
        status = "" if group is None or group.image_status is None else f", {group.image_status}"
        lines.append(f"  {name}, image now {version}{status}: {', '.join(ids)}")
    return lines


def _size(nodes: int | None, percent: int | None) -> BatchSize | None:
    if nodes is not None:
        return BatchSize(unit="INSTANCE_COUNT", value=nodes)
    return None if percent is None else BatchSize(unit="CAPACITY_PERCENTAGE", value=percent)
