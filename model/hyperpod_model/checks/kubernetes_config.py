"""Kubernetes labels and taints of a group's nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.cluster_rules import (
    max_label_name_length,
    max_label_prefix_length,
    own_label_prefix,
)
from hyperpod_model.catalog.labels import MIG_CONFIG
from hyperpod_model.checks.reading import absent, at, structures, text
from hyperpod_model.faults import Fault, FaultPath

_LABELS: FaultPath = ("KubernetesConfig", "Labels")
_TAINTS: FaultPath = ("KubernetesConfig", "Taints")


def check_taint(taint: Mapping[str, Any]) -> list[Fault]:
    """Check one taint."""
    key = text(taint, "Key")
    return [] if key is None else [fault._replace(path=("Key",)) for fault in _check_key(key)]


def check_kubernetes_config(group: Mapping[str, Any]) -> list[Fault]:
    """Check labels and taints of one group, as far as the service's model does not say it."""
    faults: list[Fault] = []
    labels = at(group, *map(str, _LABELS))
    if isinstance(labels, Mapping):
        for key in labels:
            if isinstance(key, str):
                faults += [fault._replace(path=(*_LABELS, key)) for fault in _check_key(key)]
        if MIG_CONFIG.key in labels and not absent(group, "InstanceRequirements"):
            faults.append(
                Fault(
                    (*_LABELS, MIG_CONFIG.key),
                    "partitions GPUs, which a group of several instance_types cannot; give one instance_type",
                )
            )
    seen: set[tuple[str, str]] = set()
    for index, taint in structures(group, *map(str, _TAINTS)):
        faults += [fault._replace(path=(*_TAINTS, index, *fault.path)) for fault in check_taint(taint)]
        key, effect = text(taint, "Key"), text(taint, "Effect")
        if key is None or effect is None:
            continue
        if (key, effect) in seen:
            faults.append(
                Fault(
                    (*_TAINTS, index),
                    f"is a second taint of key {key!r} and effect {effect!r}; a node has at most one",
                )
            )
        seen.add((key, effect))
    return faults


def _check_key(key: str) -> list[Fault]:
    prefix, slash, name = key.rpartition("/")
    faults = []
    if len(name) > max_label_name_length():
        faults.append(
            Fault(
                (),
                f"must have at most {max_label_name_length()} characters after its prefix, got {len(name)}",
            )
        )
    if len(prefix) > max_label_prefix_length():
        faults.append(
            Fault(
                (), f"must have a prefix of at most {max_label_prefix_length()} characters, got {len(prefix)}"
            )
        )
    if slash and f"{prefix}/" == own_label_prefix():
        faults.append(
            Fault(
                (),
                f"{key!r} has the prefix of HyperPod's own labels and taints, which it sets by itself; "
                "choose another prefix",
                severity="warning",
            )
        )
    return faults
