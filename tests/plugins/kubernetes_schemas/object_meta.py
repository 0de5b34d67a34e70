"""What an API server checks about the metadata of any object."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_DNS_SUBDOMAIN = re.compile(rf"{_DNS_LABEL.pattern}(\.{_DNS_LABEL.pattern})*")
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_ANNOTATION_BYTES = 256 * 1024
_MEMBERS = {"name", "namespace", "labels", "annotations", "finalizers", "generateName"}


def metadata_faults(said: Any, *, cluster_wide: bool = False, template: bool = False) -> Iterator[str]:
    """Check metadata.

    Args:
        said: The metadata.
        cluster_wide: Whether objects of this kind are in no namespace. Default False.
        template: Whether it is of a pod template, which has no name of its own. Default False.
    """
    if not isinstance(said, dict):
        yield f"metadata: {said!r} is not an object"
        return
    for name in said.keys() - _MEMBERS:
        yield f"metadata: unknown field {name!r}"
    if not template:
        if not is_subdomain(said.get("name")):
            yield f"metadata.name: {said.get('name')!r} is not a DNS subdomain"
        if cluster_wide != (said.get("namespace") is None):
            yield f"metadata.namespace: {said.get('namespace')!r} for a kind that is {cluster_wide=}"
    if said.get("namespace") is not None and not is_label(said["namespace"]):
        yield f"metadata.namespace: {said['namespace']!r} is not a DNS label"
    yield from label_faults("metadata.labels", said.get("labels"))
    yield from _annotation_faults(said.get("annotations"))


def label_faults(path: str, said: Any) -> Iterator[str]:
    """Check labels, or a selector by labels.

    Args:
        path: Where they are.
        said: The labels, or None.
    """
    for key, value in _texts(said).items():
        if not is_qualified_name(key):
            yield f"{path}: {key!r} is not a qualified name"
        if not isinstance(value, str) or len(value) > 63 or not _LABEL_VALUE.fullmatch(value):
            yield f"{path}.{key}: {value!r} is not the value of a label"


def is_label(text: Any) -> bool:
    """Whether something is a DNS label, as names of namespaces, containers and volumes are."""
    return isinstance(text, str) and len(text) <= 63 and _DNS_LABEL.fullmatch(text) is not None


def is_subdomain(text: Any) -> bool:
    """Whether something is a DNS subdomain, as names of most objects are."""
    return isinstance(text, str) and len(text) <= 253 and _DNS_SUBDOMAIN.fullmatch(text) is not None


def is_qualified_name(text: Any) -> bool:
    """Whether something is a name with an optional prefix, as keys of labels and names of resources are."""
    if not isinstance(text, str):
        return False
    prefix, slash, name = text.rpartition("/")
    return (not slash or is_subdomain(prefix)) and len(name) <= 63 and _QUALIFIED.fullmatch(name) is not None


def _annotation_faults(said: Any) -> Iterator[str]:
    size = 0
    for key, value in _texts(said).items():
        if not is_qualified_name(key.lower()):
            yield f"metadata.annotations: {key!r} is not a qualified name"
        if not isinstance(value, str):
            yield f"metadata.annotations.{key}: {value!r} is not text"
            continue
        size += len(key.encode()) + len(value.encode())
    if size > _ANNOTATION_BYTES:
        yield f"metadata.annotations: {size} bytes, more than {_ANNOTATION_BYTES}"


def _texts(said: Any) -> dict[str, Any]:
    return {} if said is None else dict(said)
