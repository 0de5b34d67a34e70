"""Helm charts and manifests by the CDK's functions, doubled by their effect.

No Helm and no kubectl runs, and there is no Kubernetes.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlparse

from aws_double.naming import physical_name
from aws_double.network_view import Place
from aws_double.resource import Resource, ResourceFailure, ResourceType, resource_type
from aws_double.services.eks.manifests import apply_objects, delete_objects
from aws_double.services.eks.releases import install_release, uninstall_release
from aws_double.session import Session

_HANDLER = "USER_ON_EVENT_FUNCTION_ARN"
_IN_PLACE = (
    "Chart ChartAssetURL Version Values Repository Wait Timeout ServiceTimeout CreateNamespace SkipCrds "
    "Atomic"
)
_LONGEST_NAME = 255
_DEFAULT_NAMESPACE = "default"


@resource_type(
    "Custom::AWSCDK-EKS-HelmChart",
    properties=f"ServiceToken ClusterName Release Namespace {_IN_PLACE}",
    updatable=_IN_PLACE,
)
class HelmChart(ResourceType):
    """A release in an EKS cluster, installed by the role and from the network of the CDK's function."""

    def create(self, resource: Resource, session: Session) -> None:
        self._install(resource, session)
        resource.physical_id = f"{resource.properties['ClusterName']}/{resource.properties['Release']}"

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        self._install(after, session)

    def delete(self, resource: Resource, session: Session) -> None:
        role_arn, place = _function(resource, session)
        uninstall_release(
            session.region,
            resource.properties["ClusterName"],
            _name(resource),
            role_arn=role_arn,
            place=place,
        )

    def _install(self, resource: Resource, session: Session) -> None:
        wanted = resource.properties
        if ("Chart" in wanted) == ("ChartAssetURL" in wanted):
            raise ResourceFailure("one of Chart and ChartAssetURL must be specified")
        role_arn, place = _function(resource, session)
        if "ChartAssetURL" in wanted:
            asset = urlparse(wanted["ChartAssetURL"])
            session.assume(role_arn).client("s3").get_object(Bucket=asset.netloc, Key=asset.path.lstrip("/"))
        install_release(
            session.region,
            wanted["ClusterName"],
            _name(resource),
            role_arn=role_arn,
            place=place,
            values=json.loads(wanted.get("Values", "{}")),
        )


_MANIFEST = "Manifest PruneLabel Overwrite SkipValidation ServiceTimeout"


@resource_type(
    "Custom::AWSCDK-EKS-KubernetesResource",
    properties=f"ServiceToken ClusterName {_MANIFEST}",
    updatable=_MANIFEST,
)
class KubernetesManifest(ResourceType):
    """Objects in an EKS cluster, made by the role and from the network of the CDK's function."""

    def create(self, resource: Resource, session: Session) -> None:
        role_arn, place = _function(resource, session)
        overwrite = str(resource.properties.get("Overwrite", "false")).lower() == "true"
        apply_objects(
            session.region,
            resource.properties["ClusterName"],
            _objects(resource),
            role_arn=role_arn,
            place=place,
            overwrite=overwrite,
        )
        resource.physical_id = physical_name(resource, limit=_LONGEST_NAME)

    def update(self, before: Resource, after: Resource, session: Session) -> None:
        role_arn, place = _function(after, session)
        apply_objects(
            session.region,
            after.properties["ClusterName"],
            _objects(after),
            role_arn=role_arn,
            place=place,
            before=_objects(before),
        )

    def delete(self, resource: Resource, session: Session) -> None:
        role_arn, place = _function(resource, session)
        delete_objects(
            session.region,
            resource.properties["ClusterName"],
            _objects(resource),
            role_arn=role_arn,
            place=place,
        )


def _objects(resource: Resource) -> list[dict[str, Any]]:
    objects: list[dict[str, Any]] = json.loads(resource.properties["Manifest"])
    return objects


def _name(resource: Resource) -> tuple[str, str]:
    return resource.properties.get("Namespace", _DEFAULT_NAMESPACE), resource.properties["Release"]


def _function(resource: Resource, session: Session) -> tuple[str, Place | None]:
    """Return the role of the function that runs Helm, and where its network interfaces are."""
    framework = _configuration(session, resource.properties["ServiceToken"])
    handler = _configuration(session, framework["Environment"]["Variables"][_HANDLER])
    network = handler.get("VpcConfig", {})
    place = None
    if network.get("SubnetIds"):
        place = Place(tuple(network["SubnetIds"]), tuple(network["SecurityGroupIds"]))
    return str(handler["Role"]), place


def _configuration(session: Session, function: str) -> dict[str, Any]:
    return session.call("lambda", "get_function_configuration", FunctionName=function)
