"""`hyperpod-nodes check`: deep health checks on demand."""

from __future__ import annotations

import sys
from argparse import Namespace

from hyperpod_lifecycle.operations.command.consent import agreed
from hyperpod_lifecycle.operations.command.output import write
from hyperpod_lifecycle.operations.command.repair import refusal_lines
from hyperpod_lifecycle.operations.command.site import site_of
from hyperpod_lifecycle.operations.deep_checks import DEFAULT_CHECKS, known_checks, plan_checks
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_lifecycle.operations.node_names import named
from hyperpod_model.command_line.parser import UsageError


def run(options: Namespace) -> int:
    """Start checks.

    Returns:
        The exit code: 1 if they are refused or declined.

    Raises:
        OperationError: If AWS refuses.
        UsageError: If no node is named, or nobody can be asked.
    """
    checks = tuple(dict.fromkeys(options.checks)) if options.checks else DEFAULT_CHECKS
    unknown = [check for check in checks if check not in known_checks()]
    if unknown:
        raise UsageError(f"--check must be one of {', '.join(known_checks())}, got {', '.join(unknown)}")
    if not options.nodes and not options.group:
        raise UsageError("name nodes, or a group with --group")
    site = site_of(options)
    missing = [name for name in options.group if site.cluster.group(name) is None]
    if missing:
        known = ", ".join(group.name for group in site.cluster.groups)
        raise OperationError(
            "unsuitable", f"cluster {site.cluster.name} has no group {', '.join(missing)}; it has {known}"
        )
    if not options.nodes and not any(node.group in options.group for node in site.nodes):
        raise OperationError("unknown_node", f"group {', '.join(options.group)} has no nodes")
    wanted = [*options.nodes, *(node.id for node in site.nodes if node.group in options.group)]
    plan = plan_checks(
        cluster=site.cluster,
        nodes=named(site.nodes, wanted, cluster=site.cluster),
        all_nodes=site.nodes,
        checks=checks,
    )
    on = ", ".join(f"{node.name} ({node.id})" for node in plan.nodes)
    lines = [
        f"{' and '.join(checks)} on {on}",
        *(refusal_lines(plan.refusals) or plan.consequences),
    ]
    started = False
    data = {"cluster": site.cluster.name, "dry_run": options.dry_run, "request": plan.request}
    rest = {"refusals": list(plan.refusals), "consequences": list(plan.consequences)}
    if not plan.refusals and not options.dry_run:
        print("\n".join(lines), file=sys.stderr if options.format == "json" else sys.stdout, flush=True)
        lines = []
        if not agreed(f"start them on {len(plan.nodes)} nodes of {site.cluster.name}?", yes=options.yes):
            print("nothing was done", file=sys.stderr)
            return 1
        site.hyperpod.start_checks(plan.request)
        started = True
        lines.append(
            f"started; follow them with: hyperpod-nodes watch {site.cluster.name} {site.cluster.where}"
        )
    elif not plan.refusals:
        lines.append("a dry run: nothing was done")
    write(
        options,
        text="".join(f"{line}\n" for line in lines),
        data={**data, **rest, "started": started},
    )
    return 1 if plan.refusals else 0
