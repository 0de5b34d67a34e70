from __future__ import annotations

import logging
from typing import Any

import pytest

from hyperpod_lifecycle.training import StepTimeFinding, StepTimes


class Ranks:
    """Rank 0 of many: the others take what the test says."""

    rank = 0

    def __init__(self, others: list[float]) -> None:
        self.world_size = len(others) + 1
        self.others = others

    def barrier(self) -> None:
        raise AssertionError("nobody needs to wait")

    def gather(self, value: Any) -> list[Any] | None:
        return [value, *({"seconds": one, "host": f"node-{n}"} for n, one in enumerate(self.others, 1))]

    def broadcast(self, value: Any) -> Any:
        raise AssertionError("nobody needs to know")


class Work:
    def __init__(self, others: list[float], **options: Any) -> None:
        self.now = 0.0
        self.ranks = Ranks(others)
        self.times = StepTimes(self.ranks, clock=lambda: self.now, **{"window_steps": 4} | options)
        self.step = -1

    def does(self, seconds: float, steps: int = 1) -> list[StepTimeFinding]:
        found = []
        for _ in range(steps):
            self.step += 1
            with self.times.own_work():
                self.now += seconds
            self.now += 5  # waits for the others
            found += self.times.step_done(self.step)
        return found


def test_a_slow_rank_is_named(caplog: pytest.LogCaptureFixture):
    work = Work([0.1, 0.1, 0.13])
    with caplog.at_level(logging.WARNING):
        (finding,) = work.does(0.1, 4)
    assert (finding.kind, finding.rank, finding.host, finding.step) == ("slow_rank", 3, "node-3", 3)
    assert finding.ratio == pytest.approx(1.3)
    assert caplog.messages == [
        "HYPERPOD_SLOW_RANK rank=3 host=node-3 step=3 seconds=0.130000 usual_seconds=0.100000 ratio=1.30"
    ]


def test_equal_ranks_and_small_differences_are_no_finding():
    assert Work([0.1, 0.11, 0.09]).does(0.1, 40) == []


def test_one_slow_step_is_no_finding():
    work = Work([0.1, 0.1])
    assert [*work.does(0.1, 3), *work.does(9.0), *work.does(0.1, 4)] == []


def test_a_rank_that_becomes_slower_is_named_against_itself():
    work = Work([])
    assert work.does(0.1, 4) == []
    assert work.does(0.14, 4) == []
    (finding,) = work.does(0.2, 4)
    assert (finding.kind, finding.usual_seconds) == ("slower", pytest.approx(0.1))


def test_findings_are_handed_on():
    seen: list[StepTimeFinding] = []
    found = Work([0.1, 0.3], on_finding=seen.append).does(0.1, 4)
    assert seen == found
    assert len(found) == 1


def test_own_work_adds_up_within_a_step():
    work = Work([0.2, 0.2], window_steps=1)
    with work.times.own_work():
        work.now += 0.1
    assert work.does(0.1) == []


def test_without_any_measure_nothing_is_found():
    times = StepTimes(window_steps=2)
    assert [*times.step_done(0), *times.step_done(1)] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window_steps": 0}, "window_steps must be 1 or more, got 0"),
        ({"slow_rank_ratio": 1.0}, "ratios must be above 1, got 1.0"),
        ({"slower_ratio": 0.5}, "ratios must be above 1, got 1.2 and 0.5"),
    ],
)
def test_numbers_out_of_range_are_refused(options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        StepTimes(**options)
