"""Versions of what is in a job's image and in the cluster."""

from __future__ import annotations

import re

from hyperpod_model.catalog.versions import (
    MIN_CHECKPOINTLESS_PYTHON,
    MIN_ELASTIC_AGENT_FOR_ELASTIC,
    MIN_OPERATOR_FOR_ELASTIC,
    TORCH,
)
from hyperpod_model.checks.jobs.defaults import Job
from hyperpod_model.checks.reading import absent, at, given, text
from hyperpod_model.faults import Fault

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+.a-z].*)?")
_FIELDS = ("operator_version", "elastic_agent_version", "torch_version", "python_version")


def check_versions(job: Job) -> list[Fault]:
    """Check versions as far as they are said.

    Args:
        job: The job.
    """
    faults = [
        Fault((field,), f"must be a version such as '1.2.0', got {value!r}")
        for field in _FIELDS
        if (value := text(job, field)) is not None and _numbers(value) is None
    ]
    if at(job, "operator") != "hyperpod":
        return faults
    faults += _check_torch(job)
    if given(job, "elastic"):
        faults += _check_least(job, "operator_version", MIN_OPERATOR_FOR_ELASTIC, "elastic")
    for feature in ("elastic", "checkpointless"):
        if given(job, feature):
            faults += _check_least(job, "elastic_agent_version", MIN_ELASTIC_AGENT_FOR_ELASTIC, feature)
    if given(job, "checkpointless"):
        if absent(job, "python_version"):
            message = f"is required for checkpointless, {MIN_CHECKPOINTLESS_PYTHON} or later"
            faults.append(Fault(("python_version",), message))
        faults += _check_least(job, "python_version", MIN_CHECKPOINTLESS_PYTHON, "checkpointless")
    return list(dict.fromkeys(faults))


def is_before(version: str, other: str) -> bool:
    """Whether a version is lower than another. False where it is no version.

    Args:
        version: What is judged.
        other: What it is compared with.
    """
    found, least = _numbers(version), _numbers(other)
    return found is not None and least is not None and found < least


def _numbers(version: str) -> tuple[int, ...] | None:
    found = _VERSION.fullmatch(version)
    return None if found is None else tuple(int(part) for part in found.groups(default="0"))


def _check_least(job: Job, field: str, least: str, feature: str) -> list[Fault]:
    value = text(job, field)
    if value is None or not is_before(value, least):
        return []
    return [Fault((field,), f"must be {least} or later for {feature}, got {value!r}")]


def _check_torch(job: Job) -> list[Fault]:
    value = text(job, "torch_version")
    if value is None or _numbers(value) is None:
        return []
    documented, package = (claim.value for claim in TORCH.claims)
    first, beyond = package[0], package[1].partition(",")[0]
    if is_before(value, first) or not is_before(value, beyond):
        message = f"must be {first} or later and before {beyond} for hyperpod-elastic-agent, got {value!r}"
        return [Fault(("torch_version",), f"{message}; take another image, or operator 'kubeflow'")]
    if is_before(documented[1], value):
        message = (
            "is taken by hyperpod-elastic-agent, yet the operator's documentation ends at "
            f"{documented[1]}, got "
            f"{value!r}; try a restart before relying on it"
        )
        return [Fault(("torch_version",), message, "warning")]
    return []
