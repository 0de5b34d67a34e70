"""What EKS offers: versions of Kubernetes, and versions of add-ons for them."""

from __future__ import annotations

from typing import Any

from aws_double.service_api import Request
from aws_double.services.eks.add_ons import default_version
from aws_double.services.eks.api import API
from hyperpod_model.catalog.versions import KUBERNETES


@API.operation("DescribeClusterVersions")
def describe_cluster_versions(request: Request) -> dict[str, Any]:
    """Every version that a source of the catalog names, as if all were in standard support."""
    numbers = [
        tuple(int(part) for part in end.split(".")) for claim in KUBERNETES.claims for end in claim.value
    ]
    (major, first), (_, last) = min(numbers), max(numbers)
    rows = [
        {
            "clusterVersion": f"{major}.{minor}",
            "clusterType": "eks",
            "status": "standard-support",
            "versionStatus": "STANDARD_SUPPORT",
        }
        for minor in range(first, last + 1)
    ]
    return {"clusterVersions": rows}


@API.operation("DescribeAddonVersions")
def describe_add_on_versions(request: Request) -> dict[str, Any]:
    """The one version of an add-on that the double installs, for whatever Kubernetes is asked for."""
    name = request.asked["addonName"]
    kubernetes = request.asked.get("kubernetesVersion", KUBERNETES.claims[0].value[1])
    fits = {"clusterVersion": kubernetes, "platformVersions": ["*"], "defaultVersion": True}
    version = {"addonVersion": default_version(name), "compatibilities": [fits]}
    return {"addons": [{"addonName": name, "addonVersions": [version]}]}
