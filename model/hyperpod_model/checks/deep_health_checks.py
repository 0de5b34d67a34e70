"""Deep health checks: on accelerators only, and on nodes without taints of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.cluster_rules import Orchestrator, deep_health_check_accelerators
from hyperpod_model.catalog.instances import accelerated_instance_types, instance_type
from hyperpod_model.checks.instance_types import listed_type, named_types
from hyperpod_model.checks.reading import items, quoted
from hyperpod_model.faults import Fault

_PATH = ("OnStartDeepHealthChecks",)
_EXAMPLES = 3
_KINDS_IN_WORDS = {("gpu",): "GPUs", ("gpu", "neuron"): "GPUs and Trainium"}
_ORCHESTRATORS_IN_WORDS = {"slurm": "Slurm", "eks": "EKS"}


def check_deep_health_checks(group: Mapping[str, Any]) -> list[Fault]:
    """Check the deep health checks of one group, as far as they hold under both orchestrators."""
    checks = items(group, "OnStartDeepHealthChecks")
    if not checks:
        return []
    faults = [
        Fault((*_PATH, index), f"{check!r} is listed twice", severity="warning")
        for index, check in enumerate(checks)
        if isinstance(check, str) and check in checks[:index]
    ]
    plain = [
        name for _, name in named_types(group) if (found := listed_type(name)) and not found.is_accelerated
    ]
    if plain:
        faults.append(
            Fault(
                _PATH,
                f"needs an accelerated instance type, got {quoted(dict.fromkeys(plain))}; "
                f"remove the checks or choose one of {_examples(('gpu', 'neuron'))}",
            )
        )
    if items(group, "KubernetesConfig", "Taints"):
        faults.append(
            Fault(
                ("KubernetesConfig", "Taints"),
                "cannot be set on a group with deep_health_checks, which taint nodes themselves; "
                "drop one of the two",
            )
        )
    return faults


def check_deep_health_checks_under(group: Mapping[str, Any], orchestrator: Orchestrator) -> list[Fault]:
    """Check that the orchestrator can test the accelerators of a group."""
    if not items(group, "OnStartDeepHealthChecks"):
        return []
    testable = deep_health_check_accelerators(orchestrator)
    untestable = [
        name
        for _, name in named_types(group)
        if (found := listed_type(name)) and found.accelerator and found.accelerator.kind not in testable
    ]
    if not untestable:
        return []
    return [
        Fault(
            _PATH,
            f"covers {_KINDS_IN_WORDS[testable]} only on {_ORCHESTRATORS_IN_WORDS[orchestrator]}, "
            f"got {quoted(dict.fromkeys(untestable))}; "
            f"remove the checks or choose one of {_examples(testable)}",
        )
    ]


def _examples(kinds: tuple[str, ...]) -> str:
    names = [
        name
        for name in reversed(accelerated_instance_types())
        if (accelerator := instance_type(name).accelerator) and accelerator.kind in kinds
    ]
    preferred = [name for name in names if name.startswith("ml.p5")] or names
    return ", ".join(sorted(preferred)[:_EXAMPLES]) + ", ..."
