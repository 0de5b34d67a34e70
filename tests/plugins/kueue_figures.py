"""A stand-in for what Prometheus collects of Kueue, minute by minute, and rules evaluated on it.

Kueue's names, labels and buckets are those of its pkg/metrics/metrics.go. As there, each queue tells its
pending jobs from the start, and a counter is there from its first event on.
"""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

BUCKETS = (1.0, *(2.5 * 2**step for step in range(13)))
_POD = {"job": "kueue", "namespace": "kueue-system", "pod": "kueue-controller-manager-0"}
_Key = tuple[str, tuple[tuple[str, str], ...]]


class KueueFigures:
    """Figures of some minutes, one sample a minute.

    Args:
        minutes: How many.
    """

    def __init__(self, minutes: int) -> None:
        self._minutes = minutes
        self._gauges: dict[_Key, dict[int, float]] = defaultdict(dict)
        self._events: dict[_Key, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self._restarts: set[int] = set()
        self._gaps: set[int] = set()

    def queue(
        self, name: str, *, pending: int = 0, inadmissible: int = 0, running: int = 0, minutes: Any = None
    ) -> None:
        """Let a queue have so many jobs, in all minutes or in some."""
        for minute in range(self._minutes) if minutes is None else minutes:
            for status, count in (("active", pending), ("inadmissible", inadmissible)):
                labels = {"cluster_queue": name, "status": status}
                self._gauges[_key("kueue_pending_workloads", labels)][minute] = count
            self._gauges[_key("kueue_admitted_active_workloads", {"cluster_queue": name})][minute] = running

    def admit(self, queue: str, minute: int, *, waited: float, jobs: int = 1) -> None:
        """Admit jobs that have waited so many seconds."""
        labels = {"cluster_queue": queue}
        waits = "kueue_admission_wait_time_seconds"
        self._events[_key("kueue_admitted_workloads_total", labels)][minute] += jobs
        self._events[_key(f"{waits}_count", labels)][minute] += jobs
        self._events[_key(f"{waits}_sum", labels)][minute] += jobs * waited
        for limit in (*BUCKETS, float("inf")):
            bucket = labels | {"le": "+Inf" if limit == float("inf") else f"{limit:g}"}
            self._events[_key(f"{waits}_bucket", bucket)][minute] += jobs if waited <= limit else 0

    def preempt(self, queue: str, minute: int, *, jobs: int = 1, reason: str = "InCohortReclamation") -> None:
        """Let jobs give way to those of a queue."""
        labels = {"preempting_cluster_queue": queue, "reason": reason}
        self._events[_key("kueue_preempted_workloads_total", labels)][minute] += jobs

    def restart(self, minute: int) -> None:
        """Let Kueue forget its counters before the events of a minute."""
        self._restarts.add(minute)

    def collect_nothing(self, minutes: range) -> None:
        """Let the collector be away."""
        self._gaps.update(minutes)

    def series(self) -> list[dict[str, str]]:
        """All of it as promtool reads it."""
        values = {key: [known.get(at) for at in range(self._minutes)] for key, known in self._gauges.items()}
        values.update({key: self._counted(events) for key, events in self._events.items()})
        return [
            {"series": _series(name, dict(labels)), "values": self._written(samples)}
            for (name, labels), samples in values.items()
        ]

    def _counted(self, events: Mapping[int, float]) -> list[float | None]:
        """Events before the first minute are in its sample."""
        count = sum(jobs for minute, jobs in events.items() if minute < 0) if min(events) < 0 else None
        samples = []
        for minute in range(self._minutes):
            if minute in self._restarts:
                count = None
            if minute in events:
                count = (count or 0) + events[minute]
            samples.append(count)
        return samples

    def _written(self, samples: list[float | None]) -> str:
        return " ".join(
            "_" if value is None or minute in self._gaps else f"{value:g}"
            for minute, value in enumerate(samples)
        )


def evaluate(
    folder: Path,
    rules: str,
    figures: KueueFigures,
    *expected: tuple[int, str, Mapping[str, float]],
    alerts: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Let promtool evaluate rules, and return what it says is wrong: nothing if all is as expected.

    Args:
        folder: Where files may be.
        rules: Rules as YAML.
        figures: What was collected.
        expected: Minute, expression, and its values by series. What is not among them must not be there.
        alerts: Alerts with labels and annotations, as ``alert_rule_test`` of promtool takes them.
    """
    (folder / "rules.yaml").write_text(rules)
    test = {
        "interval": "1m",
        "input_series": figures.series(),
        "alert_rule_test": list(alerts),
        "promql_expr_test": [
            {
                "eval_time": f"{minute}m",
                "expr": expression,
                "exp_samples": [{"labels": name, "value": value} for name, value in samples.items()],
            }
            for minute, expression, samples in expected
        ],
    }
    return _promtool(folder, test)


def _promtool(folder: Path, test: dict[str, Any]) -> str:
    content = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}
    (folder / "test.yaml").write_text(yaml.safe_dump(content))
    ran = subprocess.run(
        ["promtool", "test", "rules", "test.yaml"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    said = ran.stdout + ran.stderr
    assert (ran.returncode == 0) == ("FAILED" not in said), said
    return said if ran.returncode else ""


def _key(name: str, labels: Mapping[str, str]) -> _Key:
    return name, tuple(sorted((_POD | labels).items()))


def _series(name: str, labels: Mapping[str, str]) -> str:
    return f"{name}{{{', '.join(f'{key}={json.dumps(value)}' for key, value in labels.items())}}}"
