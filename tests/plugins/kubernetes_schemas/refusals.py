"""All that a server would refuse in an object."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from kubernetes_validate.utils import schema_contents
from referencing import Registry, Resource

from hyperpod_model.catalog.versions import KUBERNETES
from kubernetes_schemas.object_meta import label_faults, metadata_faults
from kubernetes_schemas.pod_rules import pod_faults
from kubernetes_schemas.shared_crds import schemas_of
from kubernetes_schemas.strict_schema import Schema, faults, without_nulls

Body = dict[str, Any]

_DEFINITIONS = "/api/_definitions.json"
_CLUSTER_WIDE = ("Namespace", "PersistentVolume", "StorageClass", "ClusterRole", "ClusterRoleBinding")


def supported_versions() -> list[str]:
    """Kubernetes versions that any source of the catalog lists for HyperPod."""
    minors = [int(version.split(".")[1]) for claim in KUBERNETES.claims for version in claim.value]
    return [f"1.{minor}" for minor in range(min(minors), max(minors) + 1)]


def refusals(body: Body) -> list[str]:
    """Return all that a server would refuse in an object, empty for one that it takes.

    Args:
        body: The object, as it is read from YAML.
    """
    api_version, kind = body.get("apiVersion"), body.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return [f"apiVersion and kind must be text, got {api_version!r} and {kind!r}"]
    pruned = without_nulls(body)
    found = list(metadata_faults(pruned.get("metadata"), cluster_wide=kind in _CLUSTER_WIDE))
    schemas = list(schemas_of(api_version, kind))
    for name, schema in schemas:
        found += [f"{name}: {fault}" for fault in faults(pruned, schema)]
    if not schemas:
        found += _built_in(pruned)
    if not found:  # rules in code take types for granted, as those of the server do
        found += _selectors(pruned)
        for template in templates_of(pruned):
            found += [f"template: {fault}" for fault in _template(template)]
    return found


def templates_of(body: Body) -> list[Body]:
    """Return the pod templates of an operator's job.

    Args:
        body: The job.
    """
    spec = body.get("spec", {})
    replicas = [*spec.get("pytorchReplicaSpecs", {}).values(), *spec.get("replicaSpecs", ())]
    return [said["template"] for said in replicas if "template" in said]


def _template(template: Body) -> Iterator[str]:
    yield from metadata_faults(template.get("metadata", {}), template=True)
    # Operators make pods of their own with names that they have checked, and this spec.
    pod = {**template, "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod", "namespace": "pods"}}
    found = _built_in(pod)
    yield from found
    if not found:
        yield from pod_faults(template["spec"])


def _built_in(body: Body) -> list[str]:
    found = []
    for version in supported_versions():
        schema, registry = _schema_of(version, body["apiVersion"], body["kind"])
        found += [f"Kubernetes {version}: {fault}" for fault in faults(body, schema, registry=registry)]
    return found


@cache
def _schema_of(version: str, api_version: str, kind: str) -> tuple[Schema, Registry[Any]]:
    group, slash, number = api_version.rpartition("/")
    stem = f"{group.split('.')[0]}-{number}" if slash else number
    file = f"{_folder(version)}/{kind.lower()}-{stem}.json"
    return schema_contents(file, version), _definitions(version)


@cache
def _definitions(version: str) -> Registry[Any]:
    file = f"{_folder(version)}/_definitions.json"
    held = Resource.from_contents(schema_contents(file, version))
    registry: Registry[Any] = Registry().with_resource(_DEFINITIONS, held).crawl()
    return registry


def _folder(version: str) -> str:
    return f"kubernetes-json-schema/v{version}.0-local-strict"


def _selectors(body: Body) -> Iterator[str]:
    for member in ("podSelector", "selector"):
        said = body.get("spec", {}).get(member)
        if isinstance(said, dict):
            yield from label_faults(f"spec.{member}", said.get("matchLabels"))
