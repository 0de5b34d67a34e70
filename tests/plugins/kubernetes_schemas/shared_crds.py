"""Schemas of the operators' kinds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

CRDS = Path(__file__).parents[4] / "shared" / "crds"
"""Data files beside the repository, which are not ours to hand on."""

needs_crds = pytest.mark.skipif(not CRDS.is_dir(), reason=f"no CRDs at {CRDS}")

KUBEFLOW_FILES = ("pytorchjobs-v1.9.0.yaml", "pytorchjobs-v1.8.1.yaml", "pytorchjobs-hyperpod-helm.yaml")
HYPERPOD_FILE = "hyperpodpytorchjob.schema.json"

Schema = dict[str, Any]

_FREE: Schema = {"type": "object"}


def schemas_of(api_version: str, kind: str) -> Iterator[tuple[str, Schema]]:
    """Find the schemas of an operator's kind.

    Args:
        api_version: Such as ``kubeflow.org/v1``.
        kind: Such as ``PyTorchJob``.

    Returns:
        Name and schema of each version of the operator; nothing for other kinds.
    """
    if (api_version, kind) == ("kubeflow.org/v1", "PyTorchJob"):
        for file in KUBEFLOW_FILES:
            yield file, _custom_resource(file)
    if (api_version, kind) == ("sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob"):
        yield HYPERPOD_FILE, _hyperpod_job()


@cache
def _custom_resource(file: str) -> Schema:
    definition = yaml.load((CRDS / file).read_text(), Loader=yaml.CSafeLoader)
    (version,) = definition["spec"]["versions"]
    schema: Schema = version["schema"]["openAPIV3Schema"]
    # The server knows these of every kind; object_meta has the rules on them.
    schema["properties"]["metadata"] = {"type": "object"}
    return schema


@cache
def _hyperpod_job() -> Schema:
    """The model in AWS's command-line tool, from which no CRD is published, as an object's schema.

    Where Kubernetes has two types of one name, the model has but one of them for both, so that it refuses
    what the operator takes; the schemas of Kubernetes judge those parts of the pod.
    """
    model = _without_null_types(json.loads((CRDS / HYPERPOD_FILE).read_text()))
    definitions = model.pop("$defs")
    for name in ("PodAffinity", "PodAntiAffinity"):
        definitions[name] = _FREE
    definitions["Spec"]["properties"]["securityContext"] = _FREE
    # Documented for jobs, and lacking in the model.
    definitions["LogMonitoringConfiguration"]["properties"]["faultOnMatch"] = {"type": "boolean"}
    return {
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": model,
        },
        "$defs": definitions,
    }


def _without_null_types(said: Any) -> Any:
    """Write "this or null" as this: nulls are pruned, and what is wrong is said of this."""
    if isinstance(said, list):
        return [_without_null_types(item) for item in said]
    if not isinstance(said, dict):
        return said
    choices = [choice for choice in said.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        rest = {key: held for key, held in said.items() if key != "anyOf"}
        return _without_null_types(rest | choices[0])
    return {key: _without_null_types(held) for key, held in said.items()}
