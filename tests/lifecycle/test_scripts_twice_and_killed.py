"""Every whole run of the bundle twice, and killed and run again: the same node, byte for byte.

Steps by themselves: ``test_steps_twice_and_killed.py`` and ``test_slurm_steps_twice_and_killed.py``. How
lines are chosen: ``node_scripts.repeated``.
"""

from __future__ import annotations

import pytest
from node_scripts.node import NEEDED
from node_scripts.repeated import (
    KILLS_OF_A_WHOLE_RUN,
    SCRIPTS,
    WHOLE_RUNS_KILLED,
    Run,
    some,
    whole_run,
)
from node_scripts.scenarios import SCENARIOS
from node_scripts.trees import differences, read_tree

pytestmark = pytest.mark.needs_system(*NEEDED)


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_is_reached(script: str) -> None:
    assert any(script in whole_run(number).before for number in range(len(SCENARIOS))), (
        "no scenario's entry point runs this script: add it to one, or a scenario to node_scripts.scenarios"
    )


@pytest.mark.parametrize("number", range(len(SCENARIOS)), ids=[scenario.name for scenario in SCENARIOS])
class TestWholeRun:
    def test_runs_to_its_end(self, number: int) -> None:
        reached = whole_run(number)
        assert reached.status == 0, reached.output
        assert "done: this node is provisioned" in reached.output
        assert not reached.node.path("/var/lib/stand-ins/fetched").exists(), "something was fetched"

    def test_twice_and_killed(self, number: int) -> None:
        reached = whole_run(number)
        scenario = SCENARIOS[number]
        run = Run(reached.node, scenario.entry_point, reached.before[scenario.entry_point])
        expected = read_tree(reached.node.root)
        assert differences(expected, run.to_the_end("the second time")) == [], scenario.name
        kills = 0 if number % WHOLE_RUNS_KILLED else KILLS_OF_A_WHOLE_RUN
        chosen = some(range(len(reached.lines)), most=kills, seed=scenario.name)
        run.kill_and_repeat({line: str(reached.lines[line]) for line in chosen}, expected)
