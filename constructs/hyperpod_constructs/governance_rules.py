"""Figures about waiting jobs that Prometheus records, and alerts on them."""

from __future__ import annotations

from typing import Any, Final

import yaml

from hyperpod_model.catalog.metrics import ADMITTED, PENDING, PREEMPTED, RUNNING, WAIT_SECONDS

RULE_NAMESPACE: Final = "hyperpod-governance"
RUNNING_FIGURE: Final = "hyperpod:running_jobs"
PENDING_FIGURE: Final = "hyperpod:pending_jobs"
PREEMPTED_FIGURE: Final = "hyperpod:preempted_jobs:increase1h"
WAIT_P90_FIGURE: Final = "hyperpod:wait_seconds:p90_1h"
WAIT_MEAN_FIGURE: Final = "hyperpod:wait_seconds:mean_1h"

_SPIKE_FACTOR: Final = 3
_MINUTES_OF_HOUR: Final = 60


def governance_rules(*, wait_alert_minutes: int, preemption_alert_count: int) -> str:
    """Return the rules as YAML, as a namespace of rule groups takes them.

    Kueue tells how long a job waited when it is admitted, not before: a queue from which nothing is admitted
    has no wait time, and an alert of its own.

    Args:
        wait_alert_minutes: Wait of one job in ten that is too long, if it is growing; and how long a queue
            may have pending jobs and admit none.
        preemption_alert_count: Preempted jobs of an hour that are many, if they are three times the usual.
    """
    seconds = wait_alert_minutes * _MINUTES_OF_HOUR
    recorded = {
        RUNNING_FIGURE: f"sum by (cluster_queue) ({RUNNING})",
        PENDING_FIGURE: f"sum by (cluster_queue) ({PENDING})",
        PREEMPTED_FIGURE: f"sum by (preempting_cluster_queue, reason) (increase({PREEMPTED}[1h]))",
        WAIT_P90_FIGURE: (
            f"histogram_quantile(0.9, sum by (cluster_queue, le) (rate({WAIT_SECONDS}_bucket[1h])))"
        ),
        WAIT_MEAN_FIGURE: (
            f"sum by (cluster_queue) (rate({WAIT_SECONDS}_sum[1h]))"
            f" / sum by (cluster_queue) (rate({WAIT_SECONDS}_count[1h]))"
        ),
    }
    alerts = [
        _alert(
            "HyperPodWaitTimeClimbing",
            # What has no value an hour ago is climbing from nothing.
            f"{WAIT_P90_FIGURE} > {seconds} unless {WAIT_P90_FIGURE} <= ({WAIT_P90_FIGURE} offset 1h)",
            wait="10m",
            summary=(
                "One job in ten of {{ $labels.cluster_queue }} waited {{ $value | humanizeDuration }} or "
                "longer, more than an hour ago. See who borrows from whom, and kubectl get workloads -A"
            ),
        ),
        _alert(
            "HyperPodQueueStuck",
            f"{PENDING_FIGURE} > 0 unless on (cluster_queue)"
            f" (sum by (cluster_queue) (increase({ADMITTED}[{wait_alert_minutes}m])) > 0)",
            wait=f"{wait_alert_minutes}m",
            summary=(
                "{{ $value }} jobs of {{ $labels.cluster_queue }} are pending, and none has been admitted "
                f"for {wait_alert_minutes} minutes. Look: kubectl describe clusterqueue "
                "{{ $labels.cluster_queue }}"
            ),
        ),
        _alert(
            "HyperPodPreemptionsSpiking",
            f"{PREEMPTED_FIGURE} > {preemption_alert_count} unless {PREEMPTED_FIGURE}"
            f" <= {_SPIKE_FACTOR} * avg_over_time({PREEMPTED_FIGURE}[1d] offset 1h)",
            wait="5m",
            summary=(
                "{{ $labels.preempting_cluster_queue }} took the place of {{ $value | humanize }} jobs "
                "within an hour ({{ $labels.reason }}), three times the usual. Each of them goes back "
                "to its last checkpoint"
            ),
        ),
    ]
    groups = [
        {
            "name": "hyperpod-governance-figures",
            "interval": "1m",
            "rules": [{"record": name, "expr": expression} for name, expression in recorded.items()],
        },
        {"name": "hyperpod-governance-alerts", "interval": "1m", "rules": alerts},
    ]
    return yaml.safe_dump({"groups": groups}, sort_keys=False, width=1_000_000)


def _alert(name: str, expression: str, *, wait: str, summary: str) -> dict[str, Any]:
    return {
        "alert": name,
        "expr": expression,
        "for": wait,
        "labels": {"severity": "warning"},
        "annotations": {"summary": summary},
    }
