"""Runs whose goodput is known, measured by their records and by their logs."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from hyperpod_lifecycle.goodput.measure_logs import DEFAULT_PATTERN, compiled, measure_logs
from hyperpod_lifecycle.goodput.measure_records import measure_records
from hyperpod_lifecycle.goodput.measured import UnmeasurableError
from hyperpod_lifecycle.training.recovery_records import RecoveryClock, RunRecords, read_records

BEGIN = 1_800_000_000.0
PATTERN = compiled(DEFAULT_PATTERN)


class _Time:
    """A clock that tests set."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += seconds


def start(folder, clock, *, resumed, until, step_seconds, tier="disk", killed=False, save_every=None):
    """One start of a job: 60 s to meet, 30 to load, 20 for data, then steps."""
    records = RunRecords(folder, job="pretrain", clock=clock)
    run = RecoveryClock(records, ranks=16, heartbeat_seconds=0, progress_seconds=0, process_started=clock.now)
    clock.passes(60)
    run.initialized()
    clock.passes(30)
    run.loaded(resumed, tier)
    clock.passes(20)
    run.data_ready()
    for step in range(resumed, until):
        clock.passes(step_seconds)
        run.step_done(step)
        if save_every is not None and (step + 1) % save_every == 0:
            records.write(
                "save",
                step=step,
                stall_seconds=4.0,
                seconds=4.0,
                asynchronous=False,
                tiers=["disk"],
                ranks=16,
            )
            clock.passes(4)
    if not killed:
        run.end("done")


def test_run_without_failures(tmp_path):
    clock = _Time(BEGIN)
    start(tmp_path, clock, resumed=0, until=100, step_seconds=100, tier="none")
    found = measure_records(read_records(tmp_path))
    assert (found.starts, found.kept_steps) == (1, 100)
    assert found.step_seconds == pytest.approx(100)
    assert found.paid_hours == pytest.approx(10_110 / 3600)
    assert found.goodput == pytest.approx(10_000 / 10_110)
    assert found.lost_hours == pytest.approx({"start-up": 110 / 3600})
    assert found.advice == ()


def test_run_that_failed_once(tmp_path):
    clock = _Time(BEGIN)
    start(tmp_path, clock, resumed=0, until=50, step_seconds=100, tier="none", killed=True)
    clock.passes(900)
    start(tmp_path, clock, resumed=40, until=100, step_seconds=100)
    found = measure_records(read_records(tmp_path))
    assert (found.starts, found.kept_steps) == (2, 100)
    lost = {place: round(hours * 3600) for place, hours in found.lost_hours.items()}
    assert lost == {
        "start-up": 110,
        "job restart": 900,
        "initialization": 60,
        "checkpoint retrieval": 30,
        "data loading": 20,
        "first step": 100,
        "lost steps": 900,
    }
    paid = 5110 + 900 + 6110
    assert found.paid_hours == pytest.approx(paid / 3600)
    assert found.goodput == pytest.approx(10_000 / paid)
    assert found.advice[0].startswith("job restart: 0.25 h, 7.4% of the run; failures are noticed late")


def test_start_that_was_killed_before_it_caught_up(tmp_path):
    clock = _Time(BEGIN)
    start(tmp_path, clock, resumed=0, until=50, step_seconds=100, tier="none", killed=True)
    start(tmp_path, clock, resumed=40, until=45, step_seconds=100, killed=True)
    found = measure_records(read_records(tmp_path))
    assert found.kept_steps == 50
    assert found.lost_hours["lost steps"] * 3600 == pytest.approx(500)


def test_starts_that_fail_one_after_the_other_are_counted_once(tmp_path):
    clock = _Time(BEGIN)
    start(tmp_path, clock, resumed=0, until=300, step_seconds=10, killed=True)
    clock.passes(600)
    start(tmp_path, clock, resumed=200, until=200, step_seconds=10, killed=True)  # never does a step
    clock.passes(100)
    start(tmp_path, clock, resumed=200, until=260, step_seconds=10, killed=True)
    clock.passes(100)
    start(tmp_path, clock, resumed=200, until=500, step_seconds=10)
    found = measure_records(read_records(tmp_path))
    assert (found.starts, found.kept_steps) == (4, 500)
    assert found.lost_hours["job restart"] * 3600 == pytest.approx(600 + 110 + 100 + 100)
    assert found.kept_hours + sum(found.lost_hours.values()) == pytest.approx(found.paid_hours, rel=0.01)


def test_saves_that_stop_training(tmp_path):
    clock = _Time(BEGIN)
    start(tmp_path, clock, resumed=0, until=100, step_seconds=10, tier="none", save_every=10)
    found = measure_records(read_records(tmp_path))
    assert found.step_seconds == pytest.approx(10)
    assert found.lost_hours["stopped by saves"] * 3600 == pytest.approx(40)


def test_slow_steps_are_what_nothing_else_explains(tmp_path):
    clock = _Time(BEGIN)
    records = RunRecords(tmp_path, job="pretrain", clock=clock)
    run = RecoveryClock(records, ranks=2, heartbeat_seconds=0, progress_seconds=0, process_started=clock.now)
    run.initialized()
    run.loaded(0, "none")
    run.data_ready()
    for step in range(100):
        clock.passes(50 if step in (30, 60) else 1)
        run.step_done(step)
    run.end("done")
    found = measure_records(read_records(tmp_path))
    assert found.step_seconds == pytest.approx(1)
    assert found.lost_hours["slow steps"] * 3600 == pytest.approx(98)
    assert any(line.startswith("slow steps") for line in found.advice)


def test_records_of_several_jobs_are_refused(tmp_path):
    for job in ("a", "b"):
        RunRecords(tmp_path, job=job).write("start", ranks=1, process_started=BEGIN, recovers=False)
    with pytest.raises(UnmeasurableError, match="the records must be of one job, got a, b"):
        measure_records(read_records(tmp_path))


def test_records_without_steps_are_refused(tmp_path):
    RunRecords(tmp_path, job="a").write("start", ranks=1, process_started=BEGIN, recovers=False)
    with pytest.raises(UnmeasurableError, match="no start did two steps that are recorded"):
        measure_records(read_records(tmp_path))
    with pytest.raises(UnmeasurableError, match="there are no records of a start"):
        measure_records([])


def log(*, at, steps, seconds, form="{time} INFO step={step} loss=2.5"):
    for number, step in enumerate(steps):
        time = datetime.fromtimestamp(BEGIN + at + number * seconds, UTC)
        yield form.format(time=time.isoformat(), step=step)


def test_log_of_a_run_that_failed_once():
    lines = [
        *log(at=0, steps=range(500), seconds=10),
        "Traceback (most recent call last):",
        *log(at=499 * 10 + 1000, steps=range(400, 1000), seconds=10),
    ]
    found = measure_logs(lines, pattern=PATTERN)
    assert (found.starts, found.kept_steps) == (2, 999)
    assert found.step_seconds == pytest.approx(10)
    assert found.lost_hours["restart"] * 3600 == pytest.approx(990)
    assert found.lost_hours["lost steps"] * 3600 == pytest.approx(1000)
    assert found.goodput == pytest.approx(9990 / (499 * 10 + 1000 + 599 * 10))


def test_log_of_a_start_that_goes_on_exactly_where_the_one_before_ended():
    lines = [*log(at=0, steps=range(100), seconds=2), *log(at=198 + 600, steps=range(100, 200), seconds=2)]
    found = measure_logs(lines, pattern=PATTERN)
    assert found.starts == 2
    assert found.lost_hours["restart"] * 3600 == pytest.approx(598)
    assert "lost steps" not in found.lost_hours


def test_log_that_names_every_tenth_step():
    found = measure_logs(log(at=0, steps=range(0, 1000, 10), seconds=20), pattern=PATTERN)
    assert found.step_seconds == pytest.approx(2)
    assert found.starts == 1
    assert found.goodput == pytest.approx(1)


@pytest.mark.parametrize(
    "line",
    [
        "2027-01-15T08:00:00Z step=7",
        "2027-01-15 08:00:00,123 - INFO - step 7 loss 2.5",
        "[default0]:2027-01-15T08:00:00.5+01:00 rank 0 step: 7",
    ],
)
def test_usual_lines_are_understood(line):
    found = PATTERN.search(line)
    assert found is not None
    assert found["step"] == "7"


def test_pattern_of_a_user():
    pattern = compiled(r"^(?P<time>\d+\.\d+) it (?P<step>\d+)")
    found = measure_logs(["10.0 it 0", "12.0 it 1", "14.0 it 2"], pattern=pattern)
    assert found.step_seconds == 2


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "--pattern is no regular expression"),
        ("(?P<time>.)", "--pattern needs the groups (?P<time>...) and (?P<step>...), and has no step"),
    ],
)
def test_refuses_patterns(pattern, message):
    with pytest.raises(UnmeasurableError, match=re.escape(message)):
        compiled(pattern)


def test_refuses_logs_that_say_too_little():
    with pytest.raises(
        UnmeasurableError, match="1 lines of the log say that a step is done, and two are needed"
    ):
        measure_logs(["2027-01-15T08:00:00Z step=7", "hello"], pattern=PATTERN)
    with pytest.raises(UnmeasurableError, match="'soon' is no time as in ISO 8601"):
        measure_logs(["soon 1", "soon 2"], pattern=compiled(r"(?P<time>\w+) (?P<step>\d)"))
    with pytest.raises(UnmeasurableError, match="no time between them"):
        measure_logs(["5 1", "5 2"], pattern=compiled(r"(?P<time>\d+) (?P<step>\d)"))


def test_records_are_json_lines_of_the_schema(tmp_path):
    """What these tests write is what training writes."""
    start(tmp_path, _Time(BEGIN), resumed=0, until=3, step_seconds=1, tier="none")
    (file,) = tmp_path.glob("*.jsonl")
    kinds = [json.loads(line)["kind"] for line in file.read_text().splitlines()]
    assert kinds[0] == "start"
    assert kinds[-1] == "end"
    assert list(read_records(file)) == list(read_records(tmp_path))


def test_log_in_which_every_line_stands_twice_and_in_no_order():
    once = [
        *log(at=0, steps=range(500), seconds=10),
        *log(at=499 * 10 + 1000, steps=range(400, 1000), seconds=10),
    ]
    later = [*log(at=1, steps=range(500), seconds=10)]  # of a rank that is a second behind
    assert measure_logs([*reversed(once), *once, *later], pattern=PATTERN).starts == 2
    # Of the lines of the rank that is behind, none is a step of its own.
    assert measure_logs([*once, *once], pattern=PATTERN) == measure_logs(once, pattern=PATTERN)


def test_a_start_at_the_step_where_the_one_before_ended_is_none_of_the_lines_that_stand_twice():
    lines = [*log(at=0, steps=range(100), seconds=2), *log(at=198 + 600, steps=range(99, 200), seconds=2)]
    found = measure_logs(lines, pattern=PATTERN)
    assert (found.starts, found.kept_steps) == (2, 199)
    assert found.lost_hours["lost steps"] * 3600 == pytest.approx(2)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(
            [*log(at=0, steps=range(1000), seconds=10), *log(at=12, steps=range(1000), seconds=10)],
            id="two ranks",
        ),
        pytest.param(
            [*log(at=0, steps=range(500), seconds=10), *log(at=1000, steps=range(500, 1000), seconds=10)],
            id="clock that went back",
        ),
    ],
)
def test_refuses_logs_that_are_not_of_one_rank_with_one_clock(lines):
    with pytest.raises(UnmeasurableError, match="lines do not go on from the line before: the log must"):
        measure_logs(lines, pattern=PATTERN)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["1 1", "2 1.5"], "'1.5' is no step: it must be a whole number"),
        (["1 1", f"2 {10**30}"], "is no step"),
        (["nan 1", "2 2"], "'nan' is no time"),
        ([" 1", "2 2"], "the group 'time' of --pattern must be a part of every line that it finds"),
    ],
)
def test_refuses_values_that_a_pattern_finds(lines, message):
    with pytest.raises(UnmeasurableError, match=message):
        measure_logs(lines, pattern=compiled(r"^(?P<time>\w+)? (?P<step>\S+)"))
