"""Holds the properties of an AWS::SageMaker::Cluster against botocore's CreateCluster model.

Everything the model states is enforced: types, unknown and required members, legal values, patterns,
lengths and ranges. botocore's own validator leaves values, patterns and maxima to the service. Intrinsic
functions pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import botocore.session
import regex

IDENTIFIER = "AWS::SageMaker::Cluster"


@cache
def create_cluster_shape() -> Any:
    service = botocore.session.get_session().get_service_model("sagemaker")
    return service.operation_model("CreateCluster").input_shape


def violations(properties: Mapping[str, Any]) -> list[str]:
    """Everything in the properties of a cluster that the model refuses."""
    return list(_walk(properties, create_cluster_shape(), "Properties"))


def cluster_resources(template: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The clusters of a template."""
    return [one for one in template["Resources"].values() if one["Type"] == IDENTIFIER]


def assert_clusters_are_legal(template: Mapping[str, Any]) -> None:
    """Fail unless a template has a cluster, and every one is what CreateCluster takes."""
    clusters = cluster_resources(template)
    assert clusters, "the template has no cluster"
    for cluster in clusters:
        assert violations(cluster["Properties"]) == []


def _is_intrinsic(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith(("Ref", "Fn::"))


def _walk(value: Any, shape: Any, path: str) -> Iterator[str]:
    if _is_intrinsic(value):
        return
    expected = {"structure": dict, "map": dict, "list": list, "string": str, "integer": int, "boolean": bool}
    if type(value) is not expected[shape.type_name]:
        yield f"{path}: {value!r} is no {shape.type_name}"
        return
    bounds = shape.metadata
    if shape.type_name == "integer":
        size = value
    elif shape.type_name in ("string", "list", "map"):
        size = len(value)
    else:
        size = None
    if size is not None and not bounds.get("min", size) <= size <= bounds.get("max", size):
        yield f"{path}: {size} is not within {bounds.get('min')} and {bounds.get('max')}"
    if shape.type_name == "string":
        if shape.enum and value not in shape.enum:
            yield f"{path}: {value!r} is none of the {len(shape.enum)} values"
        if "pattern" in bounds and not regex.fullmatch(bounds["pattern"], value):
            yield f"{path}: {value!r} does not match {bounds['pattern']}"
    elif shape.type_name == "list":
        for index, item in enumerate(value):
            yield from _walk(item, shape.member, f"{path}[{index}]")
    elif shape.type_name == "map":
        for key, item in value.items():
            yield from _walk(key, shape.key, f"{path}.{key}")
            yield from _walk(item, shape.value, f"{path}.{key}")
    elif shape.type_name == "structure":
        for name in shape.required_members:
            if name not in value:
                yield f"{path}.{name}: is required"
        for name, item in value.items():
            if name in shape.members:
                yield from _walk(item, shape.members[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}: is no member"
