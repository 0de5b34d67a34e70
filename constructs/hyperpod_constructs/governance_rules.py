"""Figures about waiting jobs that Prometheus records, and alerts on them."""

from __future__ import annotations

from typing import Any, Final

import yaml
from aws_cdk import Token

from hyperpod_model.catalog.metrics import ADMITTED, PENDING, PREEMPTED, RUNNING, WAIT_SECONDS

RULE_NAMESPACE: Final = "hyperpod-governance"
RUNNING_FIGURE: Final = "hyperpod:running_jobs"
PENDING_FIGURE: Final = "hyperpod:pending_jobs"
PREEMPTED_FIGURE: Final = "hyperpod:preempted_jobs:increase1h"
WAIT_P90_FIGURE: Final = "hyperpod:wait_seconds:p90_1h"
WAIT_MEAN_FIGURE: Final = "hyperpod:wait_seconds:mean_1h"

_SPIKE_FACTOR: Final = 3
_CLIMB_FACTOR: Final = 1.1
_ADMISSION_WINDOW: Final = "10m"
"""Of two samples at least, however seldom a collector reads Kueue's figures."""

_KNOWN: Final = f"and on () {PENDING} offset"
"""With how long ago: whether there were figures then. Each queue has a number of pending jobs, if only 0."""


def governance_rules(*, wait_alert_minutes: int | None, preemption_alert_count: int | None) -> str:
    """Return the rules as YAML, as a namespace of rule groups takes them.

    Kueue tells how long a job waited when it is admitted, not before: a queue from which nothing is admitted
    has no wait time, and an alert of its own. Its buckets of waits end at 10240 seconds, so that no
    percentile is beyond: the mean, which has no end, is held against the limit too, and tells what climbs.

    Source of the metrics and their labels: Kueue, pkg/metrics/metrics.go.

    Args:
        wait_alert_minutes: Wait of one job in ten that is too long, if the mean wait is growing; and how long
            a queue may have pending jobs and admit none; a Token has to become a whole number. None for no
            alert on either.
        preemption_alert_count: Preempted jobs of an hour that are many, if they are three times the usual.
            None for no alert.
    """
    buckets = _grown(f"{WAIT_SECONDS}_bucket", by="cluster_queue, le")
    waited, admitted = (_grown(f"{WAIT_SECONDS}_{part}", by="cluster_queue") for part in ("sum", "count"))
    recorded = {
        RUNNING_FIGURE: f"sum by (cluster_queue) ({RUNNING})",
        PENDING_FIGURE: f"sum by (cluster_queue) ({PENDING})",
        # Increases are extrapolated to the ends of the hour. Jobs are whole.
        PREEMPTED_FIGURE: f"round({_grown(PREEMPTED, by='preempting_cluster_queue, reason')})",
        # What admits nobody divides by nothing: no value, where it would be one that is no number.
        WAIT_P90_FIGURE: f"histogram_quantile(0.9, {buckets}) >= 0",
        WAIT_MEAN_FIGURE: f"{waited} / ({admitted} > 0)",
    }
    alerts = [
        *([] if wait_alert_minutes is None else _wait_alerts(wait_alert_minutes)),
        *([] if preemption_alert_count is None else [_preemption_alert(preemption_alert_count)]),
    ]
    groups = [
        {
            "name": "hyperpod-governance-figures",
            "interval": "1m",
            "rules": [{"record": name, "expr": expression} for name, expression in recorded.items()],
        },
    ]
    if alerts:
        groups.append({"name": "hyperpod-governance-alerts", "interval": "1m", "rules": alerts})
    return yaml.safe_dump({"groups": groups}, sort_keys=False, width=1_000_000)


def _grown(counter: str, *, by: str, within: str = "1h") -> str:
    """How much counters have grown, with what they began with.

    Kueue's counters begin with their first event, so that their first sample is growth already, which
    ``increase`` does not see: one that is new has grown to what it is. What was there before figures were
    collected, or while they were not, is no growth: pending jobs, which are always told, tell that they were.
    """
    new = f"max_over_time({counter}[{within}]) unless {counter} offset {within}"
    return f"sum by ({by}) ({new} {_KNOWN} {within} or increase({counter}[{within}]))"


def _wait_alerts(minutes: int) -> list[dict[str, Any]]:
    # Prometheus computes what is known at deployment alone: arithmetic on a Token would change the Token.
    said = _said(minutes)
    seconds = f"{said} * 60" if Token.is_unresolved(minutes) else str(minutes * 60)
    return [
        _alert(
            "HyperPodWaitTimeClimbing",
            f"({WAIT_P90_FIGURE} > {seconds} or {WAIT_MEAN_FIGURE} > {seconds})"
            # A queue that admits seldom has no wait of just an hour ago. One that has none is climbing.
            f" unless {WAIT_MEAN_FIGURE}"
            f" <= {_CLIMB_FACTOR} * last_over_time({WAIT_MEAN_FIGURE}[1d] offset 1h) {_KNOWN} 1h",
            wait="10m",
            summary=(
                "Jobs of {{ $labels.cluster_queue }} wait {{ $value | humanizeDuration }} and longer, and "
                "more than before. See who borrows from whom, and kubectl get workloads -A"
            ),
        ),
        _alert(
            "HyperPodQueueStuck",
            f"{PENDING_FIGURE} > 0 unless on (cluster_queue)"
            f" ({_grown(ADMITTED, by='cluster_queue', within=_ADMISSION_WINDOW)} > 0)",
            wait=f"{said}m",
            summary=(
                "{{ $value }} jobs of {{ $labels.cluster_queue }} are pending, and none has been admitted "
                f"for {said} minutes. Look: kubectl describe clusterqueue "
                "{{ $labels.cluster_queue }}"
            ),
        ),
    ]


def _preemption_alert(count: int) -> dict[str, Any]:
    return _alert(
        "HyperPodPreemptionsSpiking",
        f"{PREEMPTED_FIGURE} > {_said(count)}"
        # The usual is of all minutes that were measured: those without a preemption may have no value.
        f" unless {PREEMPTED_FIGURE} <= {_SPIKE_FACTOR} * sum_over_time({PREEMPTED_FIGURE}[1d] offset 1h)"
        f" / on () group_left () max(count_over_time({PENDING_FIGURE}[1d] offset 1h))"
        # Jobs of an hour are counted after an hour, and what is usual is of the time before.
        f" {_KNOWN} 2h",
        wait="5m",
        summary=(
            "{{ $labels.preempting_cluster_queue }} took the place of {{ $value | humanize }} jobs "
            "within an hour ({{ $labels.reason }}), three times the usual. Each of them goes back "
            "to its last checkpoint"
        ),
    )


def _said(number: int) -> str:
    return Token.as_string(number) if Token.is_unresolved(number) else str(number)


def _alert(name: str, expression: str, *, wait: str, summary: str) -> dict[str, Any]:
    return {
        "alert": name,
        "expr": expression,
        "for": wait,
        "labels": {"severity": "warning"},
        "annotations": {"summary": summary},
    }
