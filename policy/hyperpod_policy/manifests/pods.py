"""The template of a job's pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_model.catalog.labels import INSTANCE_TYPE
from hyperpod_model.faults import FaultPath
from hyperpod_policy.manifests.containers import Container
from hyperpod_policy.manifests.reading import is_deferred, items, mapping, scalar

INSTANCE_TYPE_KEYS: Final = (INSTANCE_TYPE.key, "beta.kubernetes.io/instance-type")
"""The label of nodes, and its name before Kubernetes 1.17, which nodes still carry and AWS's samples use."""

_TERMS: Final = (
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
)


@dataclass(frozen=True, slots=True)
class Selection:
    """Values of a node label that a pod asks for.

    Attributes:
        values: One of these.
        path: Where it says so.
    """

    values: tuple[Any, ...]
    path: FaultPath


@dataclass(frozen=True, slots=True)
class Pod:
    """The template of pods.

    Attributes:
        path: Of the template in the manifest.
        template: As decoded: metadata and spec.
    """

    path: FaultPath
    template: Mapping[str, Any]

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod's spec."""
        return mapping(self.template.get("spec"))

    @property
    def labels(self) -> Mapping[str, Any]:
        """The pod's labels."""
        return mapping(mapping(self.template.get("metadata")).get("labels"))

    @property
    def annotations(self) -> Mapping[str, Any]:
        """The pod's annotations."""
        return mapping(mapping(self.template.get("metadata")).get("annotations"))

    def at(self, *path: str | int) -> FaultPath:
        """Return the path of a value below the spec."""
        return (*self.path, "spec", *path)

    def containers(self, *, init: bool = False) -> Iterator[Container]:
        """Yield the containers.

        Args:
            init: Whether to yield those that run before the others as well. By default not.
        """
        for member in ("initContainers", "containers") if init else ("containers",):
            for position, body in items(self.spec.get(member)):
                yield Container(self.at(member, position), body)

    def volumes(self) -> Iterator[tuple[FaultPath, str, Mapping[str, Any]]]:
        """Yield path, name and body of each volume."""
        for position, body in items(self.spec.get("volumes")):
            name = body.get("name")
            if isinstance(name, str):
                yield self.at("volumes", position), name, body

    def flag(self, name: str) -> bool:
        """Whether a member of the spec is switched on."""
        return self.spec.get(name) is True

    def selection(self, *keys: str) -> Selection | None:
        """Return what a pod asks of a node label; ``None`` if it takes any node.

        Args:
            keys: Names of the label, the first that is asked for counts.
        """
        for key in keys:
            selector = mapping(self.spec.get("nodeSelector"))
            if key in selector:
                return Selection((scalar(selector[key]),), self.at("nodeSelector", key))
        terms: Any = self.spec
        for step in _TERMS:
            terms = mapping(terms).get(step)
        found: list[Any] = []
        path: FaultPath | None = None
        for number, term in items(terms):
            wanted = [
                (position, expression.get("values"))
                for position, expression in items(term.get("matchExpressions"))
                if expression.get("key") in keys and expression.get("operator") == "In"
            ]
            if not wanted:
                return None
            position, values = wanted[0]
            found += map(scalar, values if isinstance(values, list) else [])
            if path is None:
                path = self.at(*_TERMS, number, "matchExpressions", position, "values")
        return None if path is None else Selection(tuple(found), path)

    def instance_types(self) -> Selection | None:
        """Return the instance types that it asks for; ``None`` if any, or if that is filled in later."""
        found = self.selection(*INSTANCE_TYPE_KEYS)
        return None if found is None or any(map(is_deferred, found.values)) else found
