"""Jobs as plain values, and tables of what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from hyperpod_model.checks.jobs.job import check_job
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath
from hyperpod_model.job_spec import (
    AutoResumeSpec,
    CheckpointlessTrainingSpec,
    CheckpointSpec,
    ElasticSpec,
    JobSpec,
    LogMonitoringSpec,
    PersistentVolumeClaimSpec,
    TieredCheckpointsSpec,
    TolerationSpec,
)
from hyperpod_model.job_spec.plain_values import plain_values

SPOTLESS: dict[str, Any] = {
    "name": "llama",
    "image": "111122223333.dkr.ecr.us-west-2.amazonaws.com/train:1.4.0",
    "instance_type": "ml.p5.48xlarge",
    "nodes": 2,
    "service_account": "trainer",
    "script": "/workspace/train.py",
    "persistent_volume_claims": [{"claim_name": "fsx", "mount_path": "/fsx"}],
    "checkpoint": {"path": "/fsx/checkpoints"},
}
"""A job that nothing is to be said about."""

HYPERPOD = {"operator": "hyperpod", "namespace": "training"}
DURABLE = {"path": "/fsx/a", "s3_uri": "s3://bucket/a", "s3_interval_steps": 500}
TIERED = {"memory_interval_steps": 50, "memory_percentage": 20}
CHECKPOINTLESS = {"tier": 3, "framework": "Nemo", "data_format": "ARROW", "package_version": "1.0.1"}
WITH_CHECKPOINTLESS = HYPERPOD | {
    "checkpointless": CHECKPOINTLESS,
    "checkpoint": DURABLE,
    "operator_version": "1.2.0",
    "python_version": "3.12",
}
ELASTIC = {"nodes": None, "elastic": {"min_nodes": 2, "max_nodes": 8}}
HYPERPOD_ELASTIC = HYPERPOD | {"nodes": None, "elastic": {"min_nodes": 2, "max_nodes": 8, "step_nodes": 2}}

_PARTS: dict[str, type[BaseModel]] = {
    "auto_resume": AutoResumeSpec,
    "checkpoint": CheckpointSpec,
    "checkpointless": CheckpointlessTrainingSpec,
    "elastic": ElasticSpec,
    "log_monitoring": LogMonitoringSpec,
    "persistent_volume_claims": PersistentVolumeClaimSpec,
    "tiered_checkpointing": TieredCheckpointsSpec,
    "tolerations": TolerationSpec,
}


def plain_job(**changes: Any) -> dict[str, Any]:
    """Return a job as plain values, with defaults filled in.

    Args:
        changes: Fields that differ from those of :data:`SPOTLESS`.
    """
    values = plain_values(JobSpec.model_validate(SPOTLESS)) | changes
    return {name: _filled(name, value) for name, value in values.items()}


def faults_of(**changes: Any) -> list[Fault]:
    """Return the faults of a job.

    Args:
        changes: Fields that differ from those of :data:`SPOTLESS`.
    """
    return check_job(plain_job(**changes))


class Case(NamedTuple):
    """Something that is wrong with a job.

    Attributes:
        changes: Fields that differ from those of :data:`SPOTLESS`.
        path: Where the fault is.
        message: Regular expression for what it says.
        severity: Its severity.
    """

    changes: dict[str, Any]
    path: FaultPath
    message: str
    severity: str = "error"

    def check_found(self) -> None:
        """Assert that the fault is found, with its path, message and severity."""
        found = faults_of(**self.changes)
        here = [fault for fault in found if fault.path == self.path]
        assert here, [str(fault) for fault in found]
        assert any(
            re.search(self.message, fault.message) and fault.severity == self.severity for fault in here
        ), [(fault.severity, fault.message) for fault in here]
        assert all(not fault.message[:1].isupper() or fault.message[:2].isupper() for fault in here)
        assert all(not fault.message.endswith(".") for fault in here)

    def check_passes_where_unknown(self) -> None:
        """Assert that the fault is gone where the field that it is about is known only later."""
        field = str(self.path[0]) if self.path else next(iter(self.changes))
        found = faults_of(**self.changes | {field: UNKNOWN})
        assert [fault for fault in found if fault.path[:1] == (field,)] == []


def table_tests(
    cases: list[Case], legal: list[dict[str, Any]]
) -> tuple[Callable[..., None], Callable[..., None], Callable[..., None]]:
    """Make the tests of a table.

    Args:
        cases: What is found.
        legal: Changes to :data:`SPOTLESS` of which nothing is said.

    Returns:
        Tests that each case is found, that it passes where its field is known only later, and that nothing is
        said of what is legal.
    """

    @pytest.mark.parametrize("case", cases, ids=str)
    def is_found(case: Case) -> None:
        case.check_found()

    @pytest.mark.parametrize("case", cases, ids=str)
    def passes_where_unknown(case: Case) -> None:
        case.check_passes_where_unknown()

    @pytest.mark.parametrize("changes", legal, ids=str)
    def says_nothing(changes: dict[str, Any]) -> None:
        assert [str(fault) for fault in faults_of(**changes)] == []

    return is_found, passes_where_unknown, says_nothing


def _filled(name: str, value: Any) -> Any:
    part = _PARTS.get(name)
    if part is None:
        return value
    if isinstance(value, list):
        return [_filled(name, item) for item in value]
    if not isinstance(value, dict):
        return value
    defaults = {
        field: [] if found.default == () else found.default for field, found in part.model_fields.items()
    }
    return defaults | value
