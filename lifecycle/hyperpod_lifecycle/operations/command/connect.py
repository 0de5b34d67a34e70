"""`hyperpod-nodes connect`: a shell on a node."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace

from hyperpod_lifecycle.operations.command.output import write
from hyperpod_lifecycle.operations.command.site import site_of
from hyperpod_lifecycle.operations.node_names import named
from hyperpod_lifecycle.operations.sessions import programs_for, session_command, target_of


def run(options: Namespace) -> int:
    """Print the command, or become it.

    Returns:
        The exit code.

    Raises:
        OperationError: If AWS refuses, or a program is missing.
    """
    site = site_of(options)
    (node,) = named(site.nodes, [options.node], cluster=site.cluster)
    command = session_command(site.cluster, node, profile=options.profile, run=options.run)
    if options.start:
        programs_for(command)
        os.execvp(command[0], command)
    write(
        options,
        text=f"{shlex.join(command)}\n",
        data={
            "name": node.name,
            "id": node.id,
            "status": node.status,
            "target": target_of(site.cluster, node),
            "command": list(command),
        },
    )
    return 0
