"""A real torchrun, 2 nodes with 2 processes: ranks and nodes killed at random moments of training and saving.

`make soak` (`HYPERPOD_SOAK=1`) kills 200 times. What is compared, bit for bit: what each start loads, and
weights, optimizer and samples of each step of each rank, against a training without kills.
"""

from __future__ import annotations

import os

import pytest
from killed_training import Kill, ReadyAgents, Story, tell, train_to_the_end
from training_environment import needs_linux, needs_torchrun

from hyperpod_lifecycle.training import LocalKey
from hyperpod_model.catalog.recovery import RECOVERY_STAGES

pytestmark = [needs_linux, needs_torchrun]

SOAK = os.environ.get("HYPERPOD_SOAK") == "1"
KILLS = int(os.environ.get("HYPERPOD_SOAK_KILLS", "200" if SOAK else "4"))
SEED = int(os.environ.get("HYPERPOD_SOAK_SEED", "8"))
# The start after the second kill imports PyTorch in each process, as the program torchrun does; in a soak,
# each 33rd does, in both ways to save.
PLAIN_STARTS = range(3, KILLS + 2, 33)
INTERVAL = 10
MOST_STEPS_BETWEEN = 25
# A kill comes at most 25 steps, the rest of an interval and a moment after the newest checkpoint: of 200,
# 11 steps after it on average.
STEPS = 16 * KILLS + 150


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    options = [f"--steps={STEPS}", f"--save-every={INTERVAL}"]
    right, killed = tmp_path_factory.mktemp("uninterrupted"), tmp_path_factory.mktemp("killed")
    for folder in (right, killed):
        LocalKey.generate(folder / "key")
    with ReadyAgents(tmp_path_factory.mktemp("agents")) as agents:
        before = train_to_the_end(right, options, agents)
        found = tell(
            killed,
            kills=KILLS,
            seed=SEED,
            options=options,
            most_steps_between=MOST_STEPS_BETWEEN,
            before=before,
            agents=agents,
            plain_starts=PLAIN_STARTS,
            on_kill=_say,
        )
    print(found.report())
    return found


def _say(kill: Kill) -> None:
    if SOAK:
        print(kill.line, flush=True)


def test_training_is_bit_for_bit_what_it_is_without_kills(story: Story):
    assert len(story.kills) == KILLS
    assert story.faults == ()
    assert story.codes == (0, 0)
    assert [len(trace.of("end")) for trace in story.traces[-4:]] == [1, 1, 1, 1]


def test_ranks_and_nodes_are_killed_in_all_ways(story: Story):
    assert {kill.of_node for kill in story.kills} == {True, False}
    assert {kill.asynchronous for kill in story.kills} == {True, False}
    assert {kill.plain for kill in story.kills} == {True, False}
    if KILLS >= 100:
        ways = {(kill.of_node, kill.asynchronous, kill.saving) for kill in story.kills}
        assert len(ways) == 8, ways
        assert any(kill.loading for kill in story.kills)
        # Kills of ranks always are: torchrun sees its own.
        assert any(kill.of_node and kill.noticed_seconds is not None for kill in story.kills)


def test_a_kill_costs_no_more_than_the_steps_since_the_last_save(story: Story):
    assert max(story.lost(asynchronous=False), default=0) <= INTERVAL
    # In the background, a save may still be under way when the next is due, and no later.
    assert max(story.lost(asynchronous=True), default=0) <= 2 * INTERVAL


def test_records_tell_every_recovery(story: Story):
    recoveries = {line["attempt"]: line for line in story.records if line["kind"] == "recovery"}
    # Those of starts that were meant to be killed while they loaded, and got further, are in no kill.
    resumed = {
        -1 if line["step"] is None else line["step"] for trace in story.traces for line in trace.of("resumed")
    }
    told = sorted(line["resumed_step"] - 1 for line in recoveries.values())
    # A start that was killed before its first step was done tells none.
    assert set(told) <= resumed
    assert len(told) >= 1
    for line in recoveries.values():
        assert list(line["seconds"]) == [stage.name for stage in RECOVERY_STAGES]
        assert line["tier"] == ("none" if line["resumed_step"] == 0 else "disk")
        assert line["steps_lost"] == max(0, line["last_step"] + 1 - line["resumed_step"])
    ends = [line["reason"] for line in story.records if line["kind"] == "end"]
    assert ends == ["done"] or ends[-1] == "done"
