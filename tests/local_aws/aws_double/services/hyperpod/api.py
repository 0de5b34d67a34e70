"""What the operations of HyperPod share: the API and what is kept of a region."""

from __future__ import annotations

from typing import Any

from moto.sagemaker import urls
from moto.sagemaker.models import sagemaker_backends
from moto.sagemaker.responses import SageMakerResponse

from aws_double import usage
from aws_double.service_api import ApiError, ServiceApi, state_of
from aws_double.services.hyperpod.cluster import Cluster


def _others(http: Any, full_url: str, headers: Any) -> Any:
    """Let moto answer what is not about clusters."""
    operation = http.headers["X-Amz-Target"].rpartition(".")[2]
    if "Cluster" in operation:
        raise ApiError("NotInThisDouble", f"sagemaker:{operation} is not in this double")
    return SageMakerResponse.dispatch(http, full_url, headers)


API = ServiceApi("sagemaker", invalid="ValidationException", fallback=_others)


def clusters_of(region: str) -> dict[str, Cluster]:
    """Return the clusters of a region, by name, those on their way out included."""
    found: dict[str, Cluster] = state_of(sagemaker_backends, region, dict)
    for name in [name for name, cluster in found.items() if cluster.status == "GONE"]:
        usage.release(found.pop(name).arn)
    return found


def cluster(region: str, name_or_arn: str) -> Cluster:
    """Return a cluster.

    Raises:
        ApiError: If there is none.
    """
    for found in clusters_of(region).values():
        if name_or_arn in (found.name, found.arn):
            return found
    raise ApiError("ResourceNotFound", f"Cluster with name or ARN {name_or_arn} not found.")


def ready(region: str, name_or_arn: str) -> Cluster:
    """Return a cluster that can be changed.

    Raises:
        ApiError: If there is none, or it is being changed already.
    """
    found = cluster(region, name_or_arn)
    if found.status != "InService":
        raise ApiError("ConflictException", f"Cluster {found.name} is {found.status}, not InService.")
    return found


def take_over() -> None:
    """Let the API answer at moto's address of SageMaker."""
    urls.url_paths["{0}/$"] = API.answer
