"""What stands among manifests and runs pods, and is no training job that rules know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hyperpod_model.catalog.jobs import OPERATORS
from hyperpod_policy.manifests.manifest import Manifest
from hyperpod_policy.manifests.training_jobs import operator_of

_WITHOUT_CONTAINERS: Final = frozenset({"TrainJob", "Workflow", "CronWorkflow", "WorkflowTemplate"})
"""Kinds that run pods, whose containers are not written as those of a pod."""

_LISTED: Final = 3


def unjudged(manifests: Sequence[Manifest]) -> str | None:
    """Say which objects run pods that no rule judges; ``None`` if there are none.

    Args:
        manifests: All objects that are reviewed.
    """
    found = [
        f"{manifest} of {manifest.api_version}"
        for manifest in manifests
        if operator_of(manifest) is None
        and (manifest.kind in _WITHOUT_CONTAINERS or _has_containers(manifest.body))
    ]
    if not found:
        return None
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    kinds = " and ".join(operator.kind for operator in OPERATORS.values())
    return f"the pods of {', '.join(found[:_LISTED])}{more}: rules know those of {kinds}"


def _has_containers(value: Any) -> bool:
    pending = [value]
    while pending:
        for key, child in _children(pending.pop()):
            if key == "containers" and isinstance(child, list) and any(map(_is_mapping, child)):
                return True
            pending.append(child)
    return False


def _children(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)
