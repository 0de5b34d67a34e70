"""Health of nodes by what Slurm says of them, where its controller can be asked."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from typing import Final

from hyperpod_lifecycle.operations.clusters import Cluster, Node
from hyperpod_lifecycle.operations.node_health import DeepChecks, HealthView, NodeHealth, SeenFault
from hyperpod_model.catalog.nodes import (
    DEEP_HEALTH_CHECK_FEATURE,
    REBOOT_REASON,
    REPLACE_REASON,
)
from hyperpod_model.catalog.xids import Repair

_SECONDS: Final = 20
_FIELD: Final = re.compile(r"(?:^|\s)([A-Z]\w*)=")
# A reason may hold anything, also what looks like a field; who set it when stands behind it.
_REASON: Final = re.compile(r"\sReason=(.*?)(?:\s*\[[^\[\]]*@[^\[\]]*\].*)?$")
_REPAIRS: Final[dict[str, Repair]] = {REPLACE_REASON: "replace", REBOOT_REASON: "reboot"}


def slurm_health(cluster: Cluster, nodes: Sequence[Node]) -> HealthView:
    """Ask Slurm's controller for the health of nodes.

    Args:
        cluster: A cluster with Slurm.
        nodes: Which nodes. Those without a private DNS name are passed over.

    Returns:
        What it said, or why it said nothing.
    """
    program = shutil.which("scontrol")
    if program is None:
        return _unreachable(f"scontrol is not on this machine; {_way(cluster, nodes)}")
    command = [program, "--oneliner", "show", "nodes"]
    try:
        # Clients of Slurm wait long for a controller that is down.
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return _unreachable(f"Slurm's controller does not answer ({error}); {_way(cluster, nodes)}")
    if ran.returncode != 0:
        said = (ran.stderr.strip() or "it says nothing").splitlines()[-1]
        return _unreachable(f"Slurm's controller does not answer ({said}); {_way(cluster, nodes)}")
    rows = [dict(_fields(line)) for line in ran.stdout.splitlines() if line.strip()]
    by_name = {row["NodeName"]: row for row in rows if "NodeName" in row}
    known = {node.id: by_name[name] for node in nodes if (name := node.slurm_name) in by_name and name}
    if nodes and not known:
        return _unreachable(
            f"the Slurm of this machine has none of the nodes of {cluster.name}; {_way(cluster, nodes)}"
        )
    return HealthView(source="Slurm", nodes={id: _health(row) for id, row in known.items()})


def _unreachable(why: str) -> HealthView:
    return HealthView(source="Slurm", unreachable=why)


def _way(cluster: Cluster, nodes: Sequence[Node]) -> str:
    controllers = [group.name for group in cluster.groups if group.slurm_node_type == "Controller"]
    there = [node.name for node in nodes if node.group in controllers]
    name = there[0] if there else "<controller>"
    return (
        f"run this on the cluster's controller: hyperpod-nodes connect {cluster.name} {name} "
        f"{cluster.where} --start"
    )


def _fields(line: str) -> Iterator[tuple[str, str]]:
    reason = _REASON.search(line)
    if reason is not None:
        yield "Reason", reason[1].strip()
        line = line[: reason.start()]
    found = list(_FIELD.finditer(line))
    ends = [*(match.start() for match in found[1:]), len(line)]
    for match, end in zip(found, ends, strict=True):
        yield match[1], line[match.end() : end].strip()


def _health(row: dict[str, str]) -> NodeHealth:
    reason = row.get("Reason", "")
    features = f"{row.get('AvailableFeatures', '')},{row.get('ActiveFeatures', '')}".split(",")
    checks: DeepChecks | None = "InProgress" if DEEP_HEALTH_CHECK_FEATURE in features else None
    state = row.get("State", "UNKNOWN")
    return NodeHealth(
        state=state,
        deep_checks=checks,
        faults=(SeenFault(message=reason, source="Slurm"),) if reason and reason not in _REPAIRS else (),
        under_repair=_REPAIRS.get(reason) if "FAIL" in state or "DOWN" in state else None,
    )
