"""Runs of the bundle's scripts that are killed and repeated, for the tests of whole runs and of steps.

Automatic: a step is run once for each way through it that any scenario's entry point takes, on the node as
the steps before it left it. A run that is followed line by line shows at which lines something on the node
has just changed; between two of these the node should be the same, so killing there proves the same twice.
Tests kill at a few such lines of each way, chosen by the step's name, and ``make soak`` (``HYPERPOD_SOAK=1``)
at every line there is. Whole runs are killed at lines chosen in the same manner.

Kills that leave the same node, byte for byte, are followed by one run for all of them: nothing else goes from
one run to the next.
"""

from __future__ import annotations

import functools
import os
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperpod_lifecycle.scripts_folder import scripts_folder
from node_scripts.lines import Line, follow, kill_before
from node_scripts.node import Node
from node_scripts.scenarios import SCENARIOS
from node_scripts.trees import Entry, Tree, copy_tree, differences, fingerprint, read_tree

SOAK = os.environ.get("HYPERPOD_SOAK", "") not in ("", "0")
KILLS_OF_A_WAY = 3
KILLS_OF_A_WHOLE_RUN = 20 if SOAK else 1
WHOLE_RUNS_KILLED = 1 if SOAK else 3
"""Of so many scenarios, the whole run of one is killed: the steps are killed by themselves."""

SCRIPTS = sorted(
    path.relative_to(scripts_folder()).as_posix()
    for path in scripts_folder().rglob("*.sh")
    # lib/ is sourced by the others; job/ is what a job runs, with tests of its own on a real Slurm.
    if path.relative_to(scripts_folder()).parts[0] not in ("lib", "job")
)
STEPS = [script for script in SCRIPTS if script.startswith("steps/")]
STEPS_OF_SLURM = [step for step in STEPS if "slurm" in step or "store" in step or "accounting" in step]
"""In a test file of their own, so that two processes share the work."""


class Run:
    """A script on a node that can be put back to how it was before.

    Args:
        node: The node.
        script: Script of the bundle.
        before: The node's files before it runs.
    """

    def __init__(self, node: Node, script: str, before: Path) -> None:
        self.node = node
        self.script = script
        self._before = before

    def from_the_start(self) -> None:
        copy_tree(self._before, self.node.root)

    def to_the_end(self, when: str) -> Tree:
        """Run the script and return what is on the node then."""
        result = self.node.run(self.script)
        where = f"{self.script} {when}, {self.node.scenario.name}"
        assert result.returncode == 0, f"{where}:\n{result.stdout}{result.stderr}"
        return read_tree(self.node.root)

    def followed(self) -> tuple[list[Line], list[int]]:
        """Run the script; return the lines that ran, and those before which the node had just changed."""
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

    def kill_and_repeat(self, lines: Mapping[int, str], expected: Tree) -> None:
        """Kill the script before each of some lines; from each node that is left, run it again.

        Args:
            lines: By how many lines run before, the line in words.
            expected: What is on the node in the end.
        """
        left: set[frozenset[tuple[str, Entry]]] = set()
        command, environment = self.node.command(self.script), self.node.environment()
        for number, what in lines.items():
            self.from_the_start()
            kill_before(number, command, environment=environment, folder=self.node.folder)
            found = frozenset(read_tree(self.node.root).items())
            if found in left:
                continue
            left.add(found)
            differing = differences(expected, self.to_the_end(f"again, after it was killed before {what}"))
            assert differing == [], (
                f"{self.script} killed before {what}, {self.node.scenario.name}: {differing}"
            )


@dataclass
class Reached:
    """A scenario followed from its entry point.

    Attributes:
        node: The node as it was in the end.
        before: The node's files as each script found them, by script.
        lines: What ran.
        status: With which status the run ended.
        output: What it said.
    """

    node: Node
    before: dict[str, Path]
    lines: list[Line]
    status: int
    output: str


@functools.cache
def kept() -> tempfile.TemporaryDirectory[str]:
    """A folder as long-lived as the process."""
    return tempfile.TemporaryDirectory(prefix="node-scripts-")


@functools.cache
def whole_run(number: int) -> Reached:
    """Follow a scenario from its entry point to its end."""
    node = Node(Path(tempfile.mkdtemp(dir=kept().name)), SCENARIOS[number])
    before: dict[str, Path] = {}
    lines: list[Line] = []

    def keep(line: Line) -> None:
        lines.append(line)
        if line.script.startswith(f"{node.bundle}/"):
            name = line.script.removeprefix(f"{node.bundle}/")
            if name not in before:
                before[name] = node.folder / f"before-{len(before)}"
                copy_tree(node.root, before[name])

    result = follow(node.command(), environment=node.environment(), folder=node.folder, before_line=keep)
    return Reached(node, before, lines, result.returncode, result.stdout)


def runs_of(step: str, folder: Path) -> Iterator[Run]:
    """A run of the step for each way through it that the scenarios take."""
    ways: set[tuple[tuple[str, int], ...]] = set()
    for number, scenario in enumerate(SCENARIOS):
        reached = whole_run(number)
        script = str(reached.node.bundle / step)
        way = tuple((Path(file).name, line) for each, file, line in reached.lines if each == script)
        if not way or way in ways:
            continue
        ways.add(way)
        place = folder / str(number)
        place.mkdir()
        yield Run(Node(place, scenario), step, reached.before[step])


def some(lines: Sequence[int], *, most: int, seed: str) -> list[int]:
    """The same few lines in each run of the tests."""
    return sorted(random.Random(seed).sample(lines, k=min(most, len(lines))))


def check_step(step: str, folder: Path) -> None:
    """Run a step twice, and kill it and run it again, in each way through it.

    Args:
        step: Script of the bundle.
        folder: An empty folder of the test's own.
    """
    for run in runs_of(step, folder):
        run.from_the_start()
        lines, changed = run.followed()
        expected = read_tree(run.node.root)
        found = differences(expected, run.to_the_end("the second time"))
        assert found == [], f"{step} the second time, {run.node.scenario.name}: {found}"
        chosen = list(range(len(lines))) if SOAK else some(changed, most=KILLS_OF_A_WAY, seed=step)
        run.kill_and_repeat({number: str(lines[number]) for number in chosen}, expected)
