"""One Kubernetes object, as a manifest has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hyperpod_policy.marks import Marks

_LIST: Final = "List"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One Kubernetes object.

    Attributes:
        kind: Such as ``PyTorchJob``.
        api_version: Such as ``kubeflow.org/v1``.
        name: Its name, or what its generated name begins with; empty if it has neither.
        namespace: Its namespace; ``None`` where it is left to whoever applies it.
        body: The whole object, as decoded.
        file: Where it was read from, for reports.
        marks: On which line of the file each part of the body stands.
    """

    kind: str
    api_version: str
    name: str
    namespace: str | None
    body: Mapping[str, Any]
    file: str | None = None
    marks: Marks | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}" if self.name else self.kind

    def get(self, *path: str | int, default: Any = None) -> Any:
        """Return the value at a path of the body, or the default where there is none."""
        value: Any = self.body
        for step in path:
            if isinstance(value, Mapping):
                known = step in value
            else:
                known = isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)
            if not known:
                return default
            value = value[step]
        return value

    def line_of(self, path: Sequence[str | int] = ()) -> int | None:
        """Return the line of a value, from 1, or of the nearest one around it; ``None`` if unknown."""
        return None if self.marks is None else self.marks.line(path)


def is_manifest(value: Any) -> bool:
    """Tell whether a decoded value is a Kubernetes object: it says its kind and API version."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("kind"), str)
        and isinstance(value.get("apiVersion"), str)
    )


def manifests_of(
    value: Mapping[str, Any], *, file: str | None = None, marks: Marks | None = None
) -> Iterator[Manifest]:
    """Yield the object that a decoded value is, or the objects in it if it is a list of such.

    Args:
        value: What `is_manifest` accepts. Items of a typed list, such as ``PodList``, may leave their kind
            out.
        file: Where it was read from. By default none.
        marks: Lines of it. By default unknown.
    """
    kind, api_version = str(value["kind"]), str(value["apiVersion"])
    items = value.get("items")
    if not kind.endswith(_LIST) or not isinstance(items, list):
        yield _manifest(value, kind, api_version, file, marks)
        return
    for position, item in enumerate(items):
        if not isinstance(item, Mapping):
            continue
        inner = None if marks is None else marks.below("items", position)
        if is_manifest(item):
            yield from manifests_of(item, file=file, marks=inner)
        elif kind != _LIST:
            yield _manifest(item, kind.removesuffix(_LIST), api_version, file, inner)


def not_manifests(value: Mapping[str, Any]) -> int:
    """Return how many items of a list are no Kubernetes objects, which `manifests_of` leaves out.

    Args:
        value: What `is_manifest` accepts.
    """
    items = value.get("items")
    if not str(value["kind"]).endswith(_LIST) or not isinstance(items, list):
        return 0
    is_typed = value["kind"] != _LIST
    return sum(
        not_manifests(item) if is_manifest(item) else int(not (is_typed and isinstance(item, Mapping)))
        for item in items
    )


def left_out(value: Mapping[str, Any], *, file: str) -> list[str]:
    """Say how many items of a list are no Kubernetes objects; nothing if all are.

    Args:
        value: What `is_manifest` accepts.
        file: Where it was read from.
    """
    count = not_manifests(value)
    if not count:
        return []
    items = "an item" if count == 1 else f"{count} items"
    return [f"{file}: {items} of a {value['kind']} without apiVersion and kind"]


def _manifest(
    body: Mapping[str, Any], kind: str, api_version: str, file: str | None, marks: Marks | None
) -> Manifest:
    found = body.get("metadata")
    metadata = found if isinstance(found, Mapping) else {}
    names = (metadata.get("name"), metadata.get("generateName"))
    namespace = metadata.get("namespace")
    return Manifest(
        kind=kind,
        api_version=api_version,
        name=next((name for name in names if isinstance(name, str)), ""),
        namespace=namespace if isinstance(namespace, str) else None,
        body=body,
        file=file,
        marks=marks,
    )
