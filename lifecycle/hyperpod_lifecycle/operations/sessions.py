"""A shell on a node, through AWS Systems Manager."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence

from hyperpod_lifecycle.operations.clusters import Cluster, Node
from hyperpod_lifecycle.operations.errors import OperationError
from hyperpod_model.catalog.names import ssm_target

_PROGRAMS = {
    "aws": "the AWS CLI version 2",
    "session-manager-plugin": "the Session Manager plugin of the AWS CLI",
}


def target_of(cluster: Cluster, node: Node) -> str:
    """Return the SSM target of a node."""
    return ssm_target(cluster.id, node.group, node.id)


def session_command(
    cluster: Cluster, node: Node, *, profile: str | None = None, run: str | None = None
) -> tuple[str, ...]:
    """Return the command that starts a session.

    Args:
        cluster: The cluster.
        node: The node.
        profile: Profile of the AWS CLI. Default: that of the environment.
        run: Command to run on the node. Default: a shell.
    """
    interactive = (
        ()
        if run is None
        else (
            "--document-name",
            "AWS-StartInteractiveCommand",
            "--parameters",
            json.dumps({"command": [run]}),
        )
    )
    named = () if profile is None else ("--profile", profile)
    region = ("--region", cluster.region)
    return (
        "aws",
        "ssm",
        "start-session",
        "--target",
        target_of(cluster, node),
        *region,
        *named,
        *interactive,
    )


def programs_for(command: Sequence[str]) -> None:
    """Make sure that a session can be started here.

    Args:
        command: What starts it.

    Raises:
        OperationError: If a program is missing.
    """
    missing = [what for program, what in _PROGRAMS.items() if shutil.which(program) is None]
    if missing:
        raise OperationError(
            "unsuitable", f"a session needs {' and '.join(missing)}; {command[0]} is what runs there"
        )
