"""Runs the bats suites of the node scripts' library."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from node_scripts.machine import Scenario
from node_scripts.node import NEEDED, Node

SUITES = sorted((Path(__file__).parent / "bats").glob("*.bats"))


@pytest.mark.needs_system("bats", *NEEDED)
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.stem)
def test_suite(suite: Path, tmp_path: Path) -> None:
    node = Node(tmp_path, Scenario(name="empty", entry_point="none.sh", address="10.1.1.2"))
    environment = {
        **os.environ,
        "NODE_SCRIPTS_BUNDLE": str(node.bundle),
        "NODE_SCRIPTS_PROGRAMS": str(node.programs),
    }
    result = subprocess.run(
        ["bats", "--tap", str(suite)], env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    count = sum(line.startswith("@test ") for line in suite.read_text().splitlines())
    assert sum(line.startswith("ok ") for line in result.stdout.splitlines()) == count


def test_there_are_suites() -> None:
    assert [suite.name for suite in SUITES] == ["library.bats"]
