"""On which nodes a job's pods may run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.jobs import LABEL_KEY, LABEL_VALUE
from hyperpod_model.catalog.labels import (
    COMPUTE_TYPE,
    COMPUTE_TYPE_VALUE,
    DEEP_HEALTH_CHECK_STATUS,
    INSTANCE_TYPE,
    MIG_CONFIG_STATE,
    NODE_HEALTH_STATUS,
    UNSCHEDULABLE_TAINT,
)
from hyperpod_model.checks.jobs.bounds import check_at_least
from hyperpod_model.checks.jobs.defaults import Job
from hyperpod_model.checks.jobs.names import check_label_map
from hyperpod_model.checks.reading import absent, at, below, given, is_unknown, structures, text
from hyperpod_model.faults import Fault

_SET_FROM = {
    INSTANCE_TYPE.key: "instance_type",
    "beta.kubernetes.io/instance-type": "instance_type",
    DEEP_HEALTH_CHECK_STATUS.key: "deep_health_checked",
    MIG_CONFIG_STATE.key: "gpu_partition",
}


def check_scheduling(job: Job) -> list[Fault]:
    """Check node labels and taints of a job.

    Args:
        job: The job.
    """
    return [*_check_selector(job), *_check_tolerations(job)]


def _check_selector(job: Job) -> list[Fault]:
    faults = check_label_map(job, "node_selector")
    selector = at(job, "node_selector")
    if selector is None or is_unknown(selector):
        return faults
    for key, value in selector.items():
        if key == NODE_HEALTH_STATUS.key:
            faults.append(
                Fault(("node_selector", key), "is set for every job, to healthy nodes; leave it out")
            )
        elif key in _SET_FROM:
            faults.append(Fault(("node_selector", key), f"is set from {_SET_FROM[key]}; leave it out"))
        elif key == COMPUTE_TYPE.key and not is_unknown(value):
            message = f"may match no node: {COMPUTE_TYPE_VALUE.doubt}; leave it out"
            faults.append(Fault(("node_selector", key), message, "warning"))
    return faults


def _check_tolerations(job: Job) -> list[Fault]:
    faults: list[Fault] = []
    seen: set[tuple[str, ...]] = set()
    for index, said in structures(job, "tolerations"):
        found = _check_toleration(said)
        identity = tuple(str(said.get(name)) for name in ("key", "operator", "value", "effect"))
        if identity in seen:
            found.append(Fault((), "is given twice; remove one"))
        seen.add(identity)
        faults += below(("tolerations", index), found)
    return faults


def _check_toleration(said: Mapping[str, Any]) -> list[Fault]:
    faults = check_at_least(said, ("toleration_seconds",), 0)
    key, value, operator = text(said, "key"), text(said, "value"), text(said, "operator")
    if key is not None and not LABEL_KEY.matches(key):
        faults.append(Fault(("key",), f"must be {LABEL_KEY.in_words}, got {key!r}"))
    if key == UNSCHEDULABLE_TAINT.key:
        message = (
            "keeps pods off nodes that are faulty or under test, and must not be put up with; leave it out"
        )
        faults.append(Fault(("key",), message))
    if operator == "Exists" and given(said, "value"):
        faults.append(Fault(("value",), "goes with operator 'Equal'; leave it out, or change operator"))
    elif operator == "Equal" and absent(said, "value"):
        faults.append(Fault(("value",), "is required with operator 'Equal'"))
    elif value is not None and not LABEL_VALUE.matches(value):
        faults.append(Fault(("value",), f"must be {LABEL_VALUE.with_length}, got {value!r}"))
    effect = at(said, "effect")
    if given(said, "toleration_seconds") and not is_unknown(effect) and effect != "NoExecute":
        faults.append(Fault(("toleration_seconds",), "goes with effect 'NoExecute'; leave it out"))
    return faults
