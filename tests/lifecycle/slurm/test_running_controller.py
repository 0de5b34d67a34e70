"""Node scripts and a real slurmctld: it reads its files again, or is left alone while a node is replaced.

Real are slurmctld, scontrol and the words in which they tell of nodes. Stand-ins are the rest of the node
(:mod:`node_scripts`), and HyperPod, which would replace the node: here only its mark is set, by hand.
"""

from __future__ import annotations

import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from local_slurm import LocalSlurm, needs_slurm
from node_scripts.node import NEEDED, Node
from node_scripts.slurm_nodes import CONTROLLER, PARAMETERS, SLURM

from hyperpod_model.catalog.nodes import REBOOT_REASON, REPLACE_REASON

pytestmark = [needs_slurm, pytest.mark.needs_system(*NEEDED)]


@pytest.fixture
def controller(plain: LocalSlurm, tmp_path: Path) -> Node:
    """A controller whose slurmctld is the real one, with files that it has not read."""
    parameters = {**PARAMETERS, "slurm": {**SLURM, "accounting": False}}
    node = Node(tmp_path / "node", replace(CONTROLLER, parameters=parameters))
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in plain.environment.items())
    scontrol = shutil.which("scontrol", path=f"{plain.environment['PATH']}:/usr/bin")
    node.replace("scontrol", f'#!/bin/sh\n{exports}exec {scontrol} "$@"\n')
    assert node.run("steps/identify_node.sh").returncode == 0
    node.write("/var/lib/stand-ins/systemd/slurmctld.running", "")
    node.write("/var/lib/stand-ins/systemd/slurmctld.enabled", "")
    node.write("/opt/hyperpod/slurm-reconfigure", "")
    return node


def start(node: Node) -> str:
    result = node.run("steps/start_slurm.sh")
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_is_told_of_its_new_files(controller: Node) -> None:
    assert "slurmctld has read its files again" in start(controller)
    assert "has read" not in start(controller)


@pytest.mark.parametrize("reason", [REPLACE_REASON, REBOOT_REASON])
def test_is_left_alone_while_a_node_is_repaired(controller: Node, plain: LocalSlurm, reason: str) -> None:
    node = plain.nodes[1]
    plain.run("scontrol", "update", f"node={node}", "state=fail", f"reason={reason}")
    said = start(controller)
    assert f"WARNING: HyperPod is at work on {node}: slurmctld is not told of its new files" in said
    assert "FAIL" in plain.states_of(node)
    plain.mend()
    assert "slurmctld has read its files again" in start(controller)


def test_a_node_that_a_person_drained_is_no_repair(controller: Node, plain: LocalSlurm) -> None:
    node = plain.nodes[1]
    plain.run("scontrol", "update", f"node={node}", "state=drain", "reason=looking at it")
    assert "slurmctld has read its files again" in start(controller)
    assert "DRAIN" in plain.states_of(node)
