"""A rule on a job's log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hyperpod_charts.checked_arguments import check_at_least, check_choice
from hyperpod_charts.kubernetes_object import given
from hyperpod_model.catalog.jobs import LOG_COMPARISONS
from hyperpod_model.faults import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMonitoringRule:
    """A rule on what a job prints; the HyperPod operator restarts a job that breaks it.

    Attributes:
        name: Name of the rule.
        log_pattern: Regular expression for the lines that count, with one group around the number that
            ``metric_threshold`` is compared with.
        expected_start_cut_off_seconds: Seconds within which the first line must come. Default any.
        expected_recurring_frequency_seconds: Seconds within which a line must follow the last. Default any.
        operator: The job is slow where the number is ``gt``, ``gteq``, ``lt``, ``lteq`` or ``eq``. Default
            nothing is compared.
        metric_threshold: What the number is compared with. Default nothing.
        metric_evaluation_data_points: Lines in a row for which that must be so. Default 1, the operator's.
        stop_pattern: Line from which on the rule is off. Default it stays on.
        fault_on_match: Whether one line is a fault. AWS's documentation has it, its own model of the resource
            does not. Default False.
    """

    name: str
    log_pattern: str
    expected_start_cut_off_seconds: int | None = None
    expected_recurring_frequency_seconds: int | None = None
    operator: str | None = None
    metric_threshold: int | None = None
    metric_evaluation_data_points: int | None = None
    stop_pattern: str | None = None
    fault_on_match: bool = False

    def faults(self) -> list[Fault]:
        """What the operator would refuse or never act on."""
        faults = [
            *check_at_least("expected_start_cut_off_seconds", self.expected_start_cut_off_seconds, 1),
            *check_at_least(
                "expected_recurring_frequency_seconds", self.expected_recurring_frequency_seconds, 1
            ),
            *check_at_least("metric_evaluation_data_points", self.metric_evaluation_data_points, 1),
            *check_choice("operator", self.operator, LOG_COMPARISONS),
        ]
        if (self.operator is None) != (self.metric_threshold is None):
            faults.append(
                Fault(
                    ("metric_threshold",),
                    "goes together with operator: without both nothing is compared; give both or neither",
                )
            )
        return faults

    def to_json(self) -> dict[str, Any]:
        """Write it as the operator has it."""
        return given(
            name=self.name,
            logPattern=self.log_pattern,
            expectedStartCutOffInSeconds=self.expected_start_cut_off_seconds,
            expectedRecurringFrequencyInSeconds=self.expected_recurring_frequency_seconds,
            operator=self.operator,
            metricThreshold=self.metric_threshold,
            metricEvaluationDataPoints=self.metric_evaluation_data_points,
            stopPattern=self.stop_pattern,
            faultOnMatch=True if self.fault_on_match else None,
        )
