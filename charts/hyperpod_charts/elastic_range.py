"""Between which numbers of pods a job changes while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_charts.checked_arguments import check_at_least
from hyperpod_charts.kubernetes_object import given
from hyperpod_model.faults import Fault

_STEP, _VALUES = "replica_increment_step", "replica_discrete_values"


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticRange:
    """How the HyperPod operator changes the number of a job's pods.

    The container must have ``HYPERPOD_SIGNAL_COORDINATION`` set to ``distributed``, else the training code
    never hears of a change.

    Attributes:
        min_replicas: Fewest pods.
        max_replicas: Most pods.
        replica_increment_step: Pods that come or go at a time. This or ``replica_discrete_values``.
        replica_discrete_values: All numbers of pods that are possible.
        scaling_timeout_seconds: Seconds that a change may take. Default the operator's.
        graceful_shutdown_timeout_seconds: Seconds for a checkpoint before a change. Default the operator's.
        faulty_scale_down_timeout_seconds: Seconds after a fault until the job goes on without the pods that
            failed. Default the operator's.
    """

    min_replicas: int
    max_replicas: int
    replica_increment_step: int | None = None
    replica_discrete_values: Sequence[int] | None = None
    scaling_timeout_seconds: int | None = None
    graceful_shutdown_timeout_seconds: int | None = None
    faulty_scale_down_timeout_seconds: int | None = None

    def faults(self) -> list[Fault]:
        """What the operator would refuse or never act on."""
        values = self.replica_discrete_values
        faults = [
            *check_at_least("min_replicas", self.min_replicas, 1),
            *check_at_least("max_replicas", self.max_replicas, self.min_replicas),
            *check_at_least(_STEP, self.replica_increment_step, 1),
        ]
        if (self.replica_increment_step is None) == (values is None):
            got = "neither" if values is None else "both"
            faults.append(Fault((_STEP,), f"or {_VALUES} must be given, one of them, got {got}"))
        outside = [
            value
            for value in (() if values is None else values)
            if not self.min_replicas <= value <= self.max_replicas
        ]
        if outside:
            faults.append(
                Fault((_VALUES,), f"must be from {self.min_replicas} to {self.max_replicas}, got {outside}")
            )
        return faults

    def to_json(self) -> dict[str, Any]:
        """Write it as the operator has it."""
        return given(
            minReplicas=self.min_replicas,
            maxReplicas=self.max_replicas,
            replicaIncrementStep=self.replica_increment_step,
            replicaDiscreteValues=(
                None if self.replica_discrete_values is None else list(self.replica_discrete_values)
            ),
            scalingTimeoutInSeconds=self.scaling_timeout_seconds,
            gracefulShutdownTimeoutInSeconds=self.graceful_shutdown_timeout_seconds,
            faultyScaleDownTimeoutInSeconds=self.faulty_scale_down_timeout_seconds,
        )
