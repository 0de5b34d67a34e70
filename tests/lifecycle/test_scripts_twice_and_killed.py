"""Every script of the bundle run twice, and killed at every line and run again: the same node, byte for byte.

Automatic: a script is run in each scenario whose entry point reaches it, on the node as the steps before it
left it. A run that is followed line by line shows at which lines something on the node has just changed;
between two of these the node is the same, so killing there proves the same twice. Tests kill at each such
line, and ``make soak`` (``HYPERPOD_SOAK=1``) at each line there is.
"""

from __future__ import annotations

import functools
import os
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from node_scripts.lines import Line, follow, kill_before
from node_scripts.node import NEEDED, Node
from node_scripts.scenarios import SCENARIOS, Scenario
from node_scripts.trees import copy_tree, differences, fingerprint, read_tree

from hyperpod_lifecycle.scripts_folder import scripts_folder

pytestmark = pytest.mark.needs_system(*NEEDED)

SOAK = os.environ.get("HYPERPOD_SOAK", "") not in ("", "0")
KILLS_OF_A_WHOLE_RUN = 4

SCRIPTS = sorted(
    path.relative_to(scripts_folder()).as_posix()
    for path in scripts_folder().rglob("*.sh")
    # lib/ is sourced by the others; job/ is what a job runs, with tests of its own on a real Slurm.
    if path.relative_to(scripts_folder()).parts[0] not in ("lib", "job")
)


@dataclass
class Reached:
    """A scenario followed from its entry point.

    Attributes:
        before: The node's files as each script found them, by script.
        status: With which status the run ended.
        output: What it said.
    """

    before: dict[str, Path] = field(default_factory=dict)
    status: int = 0
    output: str = ""


@functools.cache
def kept() -> tempfile.TemporaryDirectory[str]:
    """A folder as long-lived as the process."""
    return tempfile.TemporaryDirectory(prefix="node-scripts-")


def whole_run(scenario: Scenario) -> Reached:
    return _whole_run(SCENARIOS.index(scenario))


@functools.cache
def _whole_run(number: int) -> Reached:
    node = Node(Path(tempfile.mkdtemp(dir=kept().name)), SCENARIOS[number])
    reached = Reached()

    def keep(line: Line) -> None:
        script = Path(line.script)
        if script.is_relative_to(node.bundle):
            name = script.relative_to(node.bundle).as_posix()
            if name not in reached.before:
                copy = node.folder / "before" / str(len(reached.before))
                copy.parent.mkdir(exist_ok=True)
                copy_tree(node.root, copy)
                reached.before[name] = copy

    result = follow(node.command(), environment=node.environment(), folder=node.folder, before_line=keep)
    reached.status, reached.output = result.returncode, result.stdout
    return reached


class Run:
    """A script on a node that can be put back to how it was before.

    Args:
        folder: An empty folder.
        scenario: The kind of node.
        script: Script of the bundle.
        before: The node's files before it runs.
    """

    def __init__(self, folder: Path, scenario: Scenario, script: str, before: Path) -> None:
        self.node = Node(folder, scenario)
        self.script = script
        self.before = before

    def from_the_start(self) -> None:
        copy_tree(self.before, self.node.root)

    def to_the_end(self, when: str) -> None:
        result = self.node.run(self.script)
        assert result.returncode == 0, f"{self.script} {when}:\n{result.stdout}{result.stderr}"

    def lines(self) -> tuple[list[Line], list[int]]:
        """Every line that runs, and those before which the node has just changed."""
        self.from_the_start()
        lines: list[Line] = []
        changed: list[int] = []
        last = fingerprint(self.node.root)

        def look(line: Line) -> None:
            nonlocal last
            now = fingerprint(self.node.root)
            if now != last:
                changed.append(len(lines))
                last = now
            lines.append(line)

        result = follow(
            self.node.command(self.script),
            environment=self.node.environment(),
            folder=self.node.folder,
            before_line=look,
        )
        assert result.returncode == 0, result.stdout
        return lines, changed

    def kill_before(self, line: int) -> None:
        self.from_the_start()
        kill_before(
            line,
            self.node.command(self.script),
            environment=self.node.environment(),
            folder=self.node.folder,
        )


def runs_of(script: str, folder: Path) -> Iterator[Run]:
    for number, scenario in enumerate(SCENARIOS):
        before = whole_run(scenario).before.get(script)
        if before is not None:
            place = folder / str(number)
            place.mkdir()
            yield Run(place, scenario, script, before)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_entry_point_runs_to_its_end(scenario: Scenario) -> None:
    reached = whole_run(scenario)
    assert reached.status == 0, reached.output
    assert "done: this node is provisioned" in reached.output


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_is_reached(script: str) -> None:
    assert any(script in whole_run(scenario).before for scenario in SCENARIOS), (
        "no scenario's entry point runs this script: add it to one, or a scenario to node_scripts.scenarios"
    )


@pytest.mark.parametrize("script", SCRIPTS)
def test_twice_gives_the_same_bytes(script: str, tmp_path: Path) -> None:
    for run in runs_of(script, tmp_path):
        run.from_the_start()
        run.to_the_end("the first time")
        expected = read_tree(run.node.root)
        run.to_the_end("the second time")
        assert differences(expected, read_tree(run.node.root)) == [], run.node.scenario.name


@pytest.mark.parametrize("script", SCRIPTS)
def test_killed_anywhere_and_run_again_ends_the_same(script: str, tmp_path: Path) -> None:
    for run in runs_of(script, tmp_path):
        run.from_the_start()
        run.to_the_end("undisturbed")
        expected = read_tree(run.node.root)
        lines, changed = run.lines()
        is_whole = "/" not in script
        if SOAK:
            chosen = list(range(len(lines)))
        elif is_whole:
            # The steps are killed one by one below; whole runs only show that they go together.
            chosen = random.Random(script).sample(changed, k=min(KILLS_OF_A_WHOLE_RUN, len(changed)))
        else:
            chosen = changed
        for number in chosen:
            run.kill_before(number)
            run.to_the_end(f"again, after it was killed before {lines[number]}")
            found = differences(expected, read_tree(run.node.root))
            assert found == [], f"killed before {lines[number]}, {run.node.scenario.name}: {found}"


def test_nothing_is_fetched() -> None:
    for scenario in SCENARIOS:
        node = node_of_run(scenario)
        assert not node.path("/var/lib/stand-ins/fetched").exists(), node.read("/var/lib/stand-ins/fetched")


def node_of_run(scenario: Scenario) -> Node:
    folder = Path(tempfile.mkdtemp(dir=kept().name))
    node = Node(folder, scenario)
    assert node.run().returncode == 0
    return node
