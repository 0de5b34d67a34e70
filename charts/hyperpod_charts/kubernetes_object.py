"""What all our Kubernetes objects have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cdk8s import ApiObject, ApiObjectMetadata, Chart, JsonPatch
from constructs import Construct


class KubernetesObject(ApiObject):
    """A Kubernetes object whose own properties are given as plain values.

    Everything of ``cdk8s.ApiObject`` works on it, ``add_json_patch`` and ``metadata`` included. A chart's
    namespace and labels hold where none are given.

    Args:
        scope: Parent, within a ``cdk8s.Chart``.
        id: Id within the parent.
        api_version: Such as ``kubeflow.org/v1``.
        kind: Such as ``PyTorchJob``.
        name: Name of the object.
        namespace: Its namespace. Default that of the chart.
        labels: Its labels. Default those of the chart alone.
        annotations: Its annotations. Default none.
        body: Its other members, by name. They are written in this order.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        body: Mapping[str, Any],
    ) -> None:
        super().__init__(
            scope,
            id,
            api_version=api_version,
            kind=kind,
            metadata=ApiObjectMetadata(
                name=name,
                namespace=namespace,
                labels=dict(labels) if labels else None,
                annotations=dict(annotations) if annotations else None,
            ),
        )
        # From Python, ApiObject takes no members but metadata: a patch is how the others get in.
        if body:
            self.add_json_patch(*(JsonPatch.add(f"/{member}", value) for member, value in body.items()))


def namespace_of(scope: Construct, namespace: str | None) -> str | None:
    """Namespace of an object: its own, else that of its chart, if there is any.

    Args:
        scope: Parent of the object, within a chart.
        namespace: What was given for the object.
    """
    return Chart.of(scope).namespace if namespace is None else namespace


def given(**members: Any) -> dict[str, Any]:
    """Return members without those that are None or empty, in the same order.

    0 and False stay: they mean something else than Kubernetes' default.

    Args:
        **members: Members of an object, by their names in Kubernetes.
    """
    return {
        name: value
        for name, value in members.items()
        if value is not None and not (isinstance(value, (str, list, tuple, dict)) and len(value) == 0)
    }
