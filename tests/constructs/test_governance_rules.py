"""Rules on waiting jobs, evaluated by Prometheus's own tool on figures as Kueue tells them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from kueue_figures import BUCKETS, KueueFigures, evaluate

from hyperpod_constructs.governance_rules import governance_rules

pytestmark = pytest.mark.needs_system("promtool")

RULES = governance_rules(wait_alert_minutes=60, preemption_alert_count=10)
CLIMBING, STUCK, SPIKING = "HyperPodWaitTimeClimbing", "HyperPodQueueStuck", "HyperPodPreemptionsSpiking"
MINUTE, HOUR = 60, 3600
Evaluated = Callable[..., None]


@pytest.fixture
def evaluated(tmp_path: Path) -> Evaluated:
    """Assert values of expressions at minutes."""

    def run(figures: KueueFigures, *expected: Any, rules: str = RULES, alerts: Any = ()) -> None:
        said = evaluate(tmp_path, rules, figures, *expected, alerts=alerts)
        assert said == "", said

    return run


def firing(alert: str, minute: int, *queues: str, **others: str) -> Any:
    """What fires at a minute: so many queues, each with one value of 1."""
    label = "preempting_cluster_queue" if alert == SPIKING else "cluster_queue"
    expression = f'sum by ({label}) (ALERTS{{alertname="{alert}", alertstate="firing"}})'
    return minute, expression, {f'{{{label}="{queue}"}}': 1.0 for queue in queues}


def silent(alert: str, since: int, until: int) -> Any:
    """Nothing has fired in these minutes."""
    expression = f'count_over_time(ALERTS{{alertname="{alert}", alertstate="firing"}}[{until - since}m])'
    return until, expression, {}


def of(figure: str, **labels: str) -> str:
    return f"{figure}{{{', '.join(f'{name}={value!r}' for name, value in labels.items())}}}".replace("'", '"')


def message(alert: str, minute: int, summary: str, **labels: str) -> dict[str, Any]:
    """An alert that fires at a minute, with all that it says."""
    told = {"exp_labels": {"severity": "warning", **labels}, "exp_annotations": {"summary": summary}}
    return {"eval_time": f"{minute}m", "alertname": alert, "exp_alerts": [told]}


def every(minutes: int, since: int, until: int) -> range:
    return range(since, until, minutes)


def test_prometheus_takes_the_rules(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(RULES)
    ran = subprocess.run(["promtool", "check", "rules", "rules.yaml"], cwd=tmp_path, check=False)
    assert ran.returncode == 0


def test_what_is_not_as_expected_is_told(tmp_path: Path) -> None:
    figures = KueueFigures(5)
    figures.queue("team-a", pending=2)
    said = evaluate(tmp_path, RULES, figures, (3, of("hyperpod:pending_jobs"), {}))
    assert "FAILED" in said
    assert 'cluster_queue="team-a"} 2E+00' in said


class TestFigures:
    def test_jobs_of_each_queue(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(5)
        figures.queue("team-a", pending=2, inadmissible=1, running=4)
        figures.queue("team-b")
        a, b = ({"cluster_queue": name} for name in ("team-a", "team-b"))
        pending, running = "hyperpod:pending_jobs", "hyperpod:running_jobs"
        evaluated(
            figures,
            (3, pending, {of(pending, **a): 3, of(pending, **b): 0}),
            (3, running, {of(running, **a): 4, of(running, **b): 0}),
        )

    def test_waits_of_an_hour(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(151)
        figures.queue("team-a")
        figures.admit("team-a", -1, waited=5000, jobs=30)
        for minute in range(70, 79):
            figures.admit("team-a", minute, waited=100)
        figures.admit("team-a", 79, waited=1000)
        p90, mean = "hyperpod:wait_seconds:p90_1h", "hyperpod:wait_seconds:mean_1h"
        queue = {"cluster_queue": "team-a"}
        evaluated(
            figures,
            # Nine of ten are in the bucket from 80 to 160 seconds: the ninth is at its end.
            (90, f"round({p90}, 0.001)", {of("", **queue): 160}),
            (90, f"round({mean}, 0.001)", {of("", **queue): (9 * 100 + 1000) / 10}),
            # None was admitted within the hour, which is no number rather than one that is none.
            (150, p90, {}),
            (150, mean, {}),
        )

    def test_the_first_job_of_a_queue_has_a_wait(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(200)
        figures.queue("team-a")
        figures.admit("team-a", 80, waited=2 * HOUR)
        p90, mean = "hyperpod:wait_seconds:p90_1h", "hyperpod:wait_seconds:mean_1h"
        evaluated(
            figures,
            (79, mean, {}),
            (80, mean, {of(mean, cluster_queue="team-a"): 2 * HOUR}),
            # One job, between 5120 and 10240 seconds: nine tenths of the way.
            (85, p90, {of(p90, cluster_queue="team-a"): 5120 + 0.9 * 5120}),
            (141, mean, {}),
        )

    def test_preempted_jobs(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(260)
        figures.queue("team-a")
        figures.preempt("team-a", 90, jobs=12)
        figures.preempt("team-a", 100, jobs=2)
        figures.restart(170)
        figures.preempt("team-a", 152, jobs=1)
        figures.preempt("team-a", 170, jobs=3)
        name = "hyperpod:preempted_jobs:increase1h"
        series = of(name, preempting_cluster_queue="team-a", reason="InCohortReclamation")
        evaluated(
            figures,
            (89, name, {}),
            # The first ones, of which increase() sees none, with later ones.
            (90, name, {series: 12}),
            (101, name, {series: 12 + 2}),
            (149, name, {series: 12 + 2}),
            # The first ones were over an hour ago.
            (151, name, {series: 2}),
            # All were; and Kueue has begun its counters again.
            (200, name, {series: 1 + 3}),
            (240, name, {series: 0}),
        )

    def test_what_was_there_before_is_no_growth(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(400)
        figures.queue("team-a")
        figures.preempt("team-a", -1, jobs=500)
        figures.admit("team-a", -1, waited=HOUR, jobs=500)
        figures.collect_nothing(range(120, 250))
        name = "hyperpod:preempted_jobs:increase1h"
        evaluated(
            figures,
            (399, f"max_over_time({name}[399m]) > 0", {}),
            (399, "count_over_time(hyperpod:wait_seconds:mean_1h[399m])", {}),
        )


class TestWaitTimeClimbing:
    def test_waits_that_grow_beyond_the_limit(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(265)
        for queue in ("team-a", "team-b"):
            figures.queue(queue, pending=3)
            for minute in every(5, 0, 265):
                grown = queue == "team-a" and minute >= 200
                figures.admit(queue, minute, waited=90 * MINUTE if grown else 20 * MINUTE)
        # Twelve jobs, all in the bucket from 5120 to 10240 seconds.
        assert 2 * HOUR + 42 * MINUTE + 8 == 5120 + 0.9 * 5120
        said = (
            "Jobs of team-a wait 2h 42m 8s and longer, and more than before. See who borrows from whom, "
            "and kubectl get workloads -A"
        )
        evaluated(
            figures,
            silent(CLIMBING, 0, 200),
            firing(CLIMBING, 262, "team-a"),
            alerts=[message(CLIMBING, 262, said, cluster_queue="team-a")],
        )

    def test_steady_waits(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(300)
        figures.queue("team-a", pending=3)
        # Not the same each time, as waits are, and around the border of two buckets.
        differences = (0, 150, -200, 40, 300, -300, 90, -20, 250, -150, 10)
        for number, minute in enumerate(every(7, -60, 300)):
            figures.admit("team-a", minute, waited=5120 + differences[number % len(differences)])
        evaluated(figures, silent(CLIMBING, 0, 299))

    def test_steady_waits_of_few_jobs(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(540)
        figures.queue("team-a", pending=1)
        for minute in every(180, 100, 540):
            figures.admit("team-a", minute, waited=2 * HOUR)
        # Nobody knew a wait before the first job of the queue.
        evaluated(figures, firing(CLIMBING, 120, "team-a"), silent(CLIMBING, 200, 539))

    def test_shrinking_waits(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(300)
        figures.queue("team-a", pending=1)
        for minute in every(10, -60, 300):
            figures.admit("team-a", minute, waited=(3 if minute < 150 else 2) * HOUR)
        evaluated(figures, silent(CLIMBING, 0, 299))

    def test_growing_waits_within_the_limit(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(300)
        figures.queue("team-a", pending=1)
        for minute in every(10, -60, 300):
            figures.admit("team-a", minute, waited=(5 if minute < 150 else 40) * MINUTE)
        evaluated(figures, silent(CLIMBING, 0, 299))

    def test_the_first_hour_of_figures(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(200)
        figures.queue("team-a", pending=3)
        for minute in every(5, -60, 200):
            figures.admit("team-a", minute, waited=2 * HOUR)
        evaluated(figures, silent(CLIMBING, 0, 199))

    def test_kueue_starts_again(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(280)
        figures.queue("team-a", pending=3)
        figures.restart(150)
        for minute in every(5, -60, 280):
            figures.admit("team-a", minute, waited=2 * HOUR)
        evaluated(figures, silent(CLIMBING, 0, 279))

    def test_a_limit_beyond_kueues_buckets(self, evaluated: Evaluated) -> None:
        limit = 240
        assert limit * MINUTE > BUCKETS[-1]
        rules = governance_rules(wait_alert_minutes=limit, preemption_alert_count=10)
        figures = KueueFigures(170)
        for queue, grown in (("team-a", 5 * HOUR), ("team-b", 3.5 * HOUR)):
            figures.queue(queue, pending=1)
            for minute in every(10, -60, 170):
                figures.admit(queue, minute, waited=HOUR if minute < 100 else grown)
        evaluated(figures, firing(CLIMBING, 165, "team-a"), rules=rules)


class TestQueueStuck:
    def test_a_queue_that_admits_nothing(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(300)
        for queue in ("team-a", "team-b"):
            figures.queue(queue, pending=1, inadmissible=1)
            for minute in every(20, 0, 101 if queue == "team-a" else 300):
                figures.admit(queue, minute, waited=MINUTE)
        said = (
            "2 jobs of team-a are pending, and none has been admitted for 60 minutes. "
            "Look: kubectl describe clusterqueue team-a"
        )
        evaluated(
            figures,
            silent(STUCK, 0, 160),
            firing(STUCK, 175, "team-a"),
            firing(STUCK, 299, "team-a"),
            alerts=[message(STUCK, 180, said, cluster_queue="team-a")],
        )

    def test_a_queue_that_never_admitted_one(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(200)
        figures.queue("team-a", pending=1)
        evaluated(figures, silent(STUCK, 0, 59), firing(STUCK, 60, "team-a"))

    @pytest.mark.parametrize("wait", [1, 60])
    def test_a_queue_that_admits_seldom(self, evaluated: Evaluated, wait: int) -> None:
        """The first of them is the first that the queue admits at all: its counter begins with 1."""
        rules = governance_rules(wait_alert_minutes=wait, preemption_alert_count=10)
        figures = KueueFigures(300)
        figures.queue("team-a", pending=0, minutes=range(20))
        figures.queue("team-a", pending=2, minutes=range(20, 300))
        for minute in every(min(wait, 10), 20, 300) if wait == 1 else (75, 130, 185, 240, 295):
            figures.admit("team-a", minute, waited=MINUTE)
        evaluated(figures, silent(STUCK, 0, 299), rules=rules)

    def test_a_queue_without_jobs(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(300)
        figures.queue("team-a")
        evaluated(figures, silent(STUCK, 0, 299))

    def test_jobs_that_pend_shortly(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(300)
        figures.queue("team-a")
        figures.queue("team-a", pending=5, minutes=range(100, 155))
        evaluated(figures, silent(STUCK, 0, 299))

    def test_kueue_starts_again(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(300)
        figures.queue("team-a", pending=2)
        figures.restart(120)
        for minute in every(45, 0, 300):
            figures.admit("team-a", minute, waited=MINUTE)
        evaluated(figures, silent(STUCK, 0, 299))


class TestPreemptionsSpiking:
    def test_more_than_usual(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(430)
        for queue in ("team-a", "team-b"):
            figures.queue(queue)
            for minute in every(15, -60, 400):
                figures.preempt(queue, minute)
        for minute in range(401, 417):
            figures.preempt("team-a", minute)
        said = (
            "team-a took the place of 18 jobs within an hour (InCohortReclamation), three times the usual. "
            "Each of them goes back to its last checkpoint"
        )
        whom = {"preempting_cluster_queue": "team-a", "reason": "InCohortReclamation"}
        evaluated(
            figures,
            silent(SPIKING, 0, 400),
            firing(SPIKING, 425, "team-a"),
            alerts=[message(SPIKING, 425, said, **whom)],
        )

    def test_as_many_as_usual(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(300)
        figures.queue("team-a")
        for minute in every(3, -60, 300):
            figures.preempt("team-a", minute)
        evaluated(figures, silent(SPIKING, 0, 299))

    def test_twice_as_many_as_usual(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(400)
        figures.queue("team-a")
        for minute in [*every(6, -60, 250), *every(3, 250, 400)]:
            figures.preempt("team-a", minute)
        evaluated(figures, silent(SPIKING, 0, 399))

    def test_few(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(300)
        figures.queue("team-a")
        for minute in range(200, 210):
            figures.preempt("team-a", minute)
        evaluated(figures, silent(SPIKING, 0, 299))

    def test_the_first_ones_of_a_queue_at_once_and_for_hours(self, evaluated: Evaluated) -> None:
        """Hours without a value count as hours without a preemption: what lasts is not usual yet."""
        figures = KueueFigures(650)
        figures.queue("team-a")
        figures.preempt("team-a", 400, jobs=12)
        for minute in every(3, 401, 650):
            figures.preempt("team-a", minute)
        evaluated(
            figures,
            silent(SPIKING, 0, 404),
            firing(SPIKING, 406, "team-a"),
            firing(SPIKING, 500, "team-a"),
            firing(SPIKING, 530, "team-a"),
        )

    def test_reasons_are_apart(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(300)
        figures.queue("team-a")
        for minute in range(200, 208):
            figures.preempt("team-a", minute, reason="InClusterQueue")
            figures.preempt("team-a", minute, reason="InCohortFairSharing")
        evaluated(figures, silent(SPIKING, 0, 299))

    def test_kueue_starts_again(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(320)
        figures.queue("team-a")
        figures.restart(200)
        figures.preempt("team-a", -1, jobs=1000)
        for minute in every(10, 0, 320):
            figures.preempt("team-a", minute)
        evaluated(figures, silent(SPIKING, 0, 319))

    def test_a_collector_that_was_away(self, evaluated: Evaluated) -> None:
        figures = KueueFigures(480)
        figures.queue("team-a")
        figures.preempt("team-a", -1, jobs=1000)
        figures.collect_nothing(range(200, 330))
        for minute in every(3, 0, 480):
            figures.preempt("team-a", minute)
        evaluated(figures, silent(SPIKING, 0, 479))


class TestText:
    GROUPS: Any = yaml.safe_load(governance_rules(wait_alert_minutes=45, preemption_alert_count=7))["groups"]

    def test_the_limits_are_those_that_are_said(self) -> None:
        alerts = {rule["alert"]: rule for rule in self.GROUPS[1]["rules"]}
        assert f"> {45 * MINUTE} " in alerts[CLIMBING]["expr"]
        assert alerts[STUCK]["for"] == "45m"
        assert "hyperpod:preempted_jobs:increase1h > 7 " in alerts[SPIKING]["expr"]

    def test_a_message_names_whom(self) -> None:
        for rule in self.GROUPS[1]["rules"]:
            assert "cluster_queue }}" in rule["annotations"]["summary"]
