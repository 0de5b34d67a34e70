"""Kubernetes objects of EKS clusters: only kept, by those who may use the Kubernetes API and reach it.

Nobody validates them here: the tests of the charts hold them against the schemas of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aws_double.network_view import Place
from aws_double.resource import ResourceFailure
from aws_double.services.eks.api import clusters_of
from aws_double.services.eks.releases import check_access

Key = tuple[str, str, str]
"""Kind, namespace and name of an object."""


def apply_objects(
    region: str,
    cluster_name: str,
    objects: Iterable[Mapping[str, Any]],
    *,
    role_arn: str,
    place: Place | None,
    before: Iterable[Mapping[str, Any]] | None = None,
    overwrite: bool = False,
) -> None:
    """Create objects, or change those that were there before and prune what is in the manifest no more.

    Args:
        region: Region of the cluster.
        cluster_name: Its name.
        objects: Objects as they are to be.
        role_arn: Role that asks.
        place: Where it asks from; None from outside of any VPC.
        before: Objects of the former manifest. None for a new manifest.
        overwrite: Whether a new manifest may change objects that are there.

    Raises:
        ResourceFailure: If the role may not use the Kubernetes API or does not reach it, an object has no
            kind or name, or is there already.
    """
    found = clusters_of(region).get(cluster_name)
    if found is None:
        raise ResourceFailure(f"there is no EKS cluster {cluster_name}")
    check_access(found, role_arn, place)
    wanted = {_key(one): dict(one) for one in objects}
    there = sorted(wanted.keys() & found.objects.keys())
    if before is None and there and not overwrite:
        raise ResourceFailure(f"Error from server (AlreadyExists): {'/'.join(there[0])} already exists")
    for key in {_key(one) for one in before or ()} - wanted.keys():
        found.objects.pop(key, None)
    found.objects.update(wanted)


def delete_objects(
    region: str,
    cluster_name: str,
    objects: Iterable[Mapping[str, Any]],
    *,
    role_arn: str,
    place: Place | None,
) -> None:
    """Delete objects; those of a cluster that is gone are gone with it.

    Raises:
        ResourceFailure: If the role may not use the Kubernetes API, or does not reach it.
    """
    found = clusters_of(region).get(cluster_name)
    if found is None:
        return
    check_access(found, role_arn, place)
    for one in objects:
        found.objects.pop(_key(one), None)


def _key(one: Mapping[str, Any]) -> Key:
    metadata = one.get("metadata", {})
    if "kind" not in one or "apiVersion" not in one or "name" not in metadata:
        raise ResourceFailure(f"error validating data: apiVersion, kind and metadata.name must be set: {one}")
    return one["kind"], metadata.get("namespace", ""), metadata["name"]
