"""What runs in an EKS cluster beside the jobs: add-ons, and the Helm chart that HyperPod depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact, UnknownNameError
from hyperpod_model.catalog.ports import PortRange


@dataclass(frozen=True, slots=True)
class AddOn:
    """An EKS add-on that training on HyperPod uses.

    Attributes:
        name: Such as ``vpc-cni``.
        purpose: What it does.
        namespace: Kubernetes namespace of its pods.
        workload: ``DaemonSet`` add-ons are active without any node; a ``Deployment`` needs one.
        minimum: Lowest version, such as ``1.18.3``. None if any will do.
        requires: Names of the add-ons that must be there first.
        service_account: Its service account that needs an IAM role. None if none does.
        webhooks: Ports on which the control plane calls its pods.
    """

    name: str
    purpose: str
    namespace: str
    workload: Literal["DaemonSet", "Deployment"]
    minimum: str | None
    requires: tuple[str, ...]
    service_account: str | None
    webhooks: Fact[tuple[PortRange, ...]]

    @property
    def needs_nodes(self) -> bool:
        """Whether it only becomes active once there are nodes, so that it has to come after HyperPod."""
        return self.workload == "Deployment"


class ChartComponent(NamedTuple):
    """A part of the dependency chart.

    Attributes:
        name: Name of the sub-chart.
        purpose: What it does.
    """

    name: str
    purpose: str


_TABLE = table("add_ons")
_CHART = _TABLE["dependency_chart"]


def _ports(name: str, entry: Any) -> Fact[tuple[PortRange, ...]]:
    ports: Fact[tuple[tuple[Literal["tcp", "udp"], int, int], ...]] = fact(name, entry, _TABLE)
    return Fact(
        name,
        tuple(PortRange(*row) for row in ports.assuming(because="the doubt is passed on")),
        source=ports.source,
        checked_on=ports.checked_on,
        doubt=ports.doubt,
    )


ADD_ONS: Mapping[str, AddOn] = MappingProxyType(
    {
        row["name"]: AddOn(
            **{
                **row,
                "requires": tuple(row["requires"]),
                "webhooks": _ports(f"webhook ports of {row['name']}", row["webhooks"]),
            }
        )
        for row in _TABLE["add_ons"]
    }
)
"""By name, each after what it requires."""

BEFORE_NODES: tuple[str, ...] = tuple(name for name, found in ADD_ONS.items() if not found.needs_nodes)
"""Add-ons to install before the HyperPod cluster: nodes are not ready without them."""

AFTER_NODES: tuple[str, ...] = tuple(name for name, found in ADD_ONS.items() if found.needs_nodes)
"""Add-ons to install after the HyperPod cluster: without nodes they stay ``DEGRADED``."""

STATUS_WITHOUT_NODES: Fact[str] = fact(
    "status of a Deployment's add-on without nodes", _TABLE["without_nodes"], _TABLE
)

EXTERNAL_SNAT: tuple[str, str] = (_TABLE["external_snat"]["name"], _TABLE["external_snat"]["value"])
"""Environment variable of the VPC CNI, and the value where a NAT gateway translates pods' addresses."""

CHART_REPOSITORY: str = _CHART["repository"]
CHART_FOLDER: str = _CHART["folder"]
"""Folder of the dependency chart within its repository."""

CHART_RELEASE: str = _CHART["release"]
CHART_NAMESPACE: str = _CHART["namespace"]
"""Namespace of the release; its workloads are in :data:`WORKLOAD_NAMESPACE` and others."""

WORKLOAD_NAMESPACE: str = _CHART["workload_namespace"]
"""Fixed by the service."""

CHART_COMPONENTS: tuple[ChartComponent, ...] = tuple(ChartComponent(**row) for row in _CHART["components"])
"""Sub-charts that resilient training needs."""

CHART_REGION_VALUE: tuple[str, str] = tuple(_CHART["region_value"]["path"])
"""Sub-chart and key of the value that names the region of an image. Without it, and before there are nodes,
the chart takes us-east-1."""

CHART_WEBHOOKS: Fact[tuple[PortRange, ...]] = _ports(
    "webhook ports of the dependency chart", _CHART["webhooks"]
)
"""Ports on which the control plane calls pods of the chart."""

EFA_DEVICE_PLUGIN: Fact[str] = fact("version of the EFA device plugin", _CHART["efa_device_plugin"], _TABLE)
"""The one that the dependency chart brings along."""

CONTROL_PLANE_SERVICE: str = _TABLE["services"]["control_plane"]
CLUSTER_POLICY: str = _TABLE["cluster_policy"]
"""AWS managed policy of the control plane's role."""

CLUSTER_ADMIN_ACCESS_POLICY: str = _TABLE["cluster_admin_access_policy"]
"""EKS access policy of administrators."""

SECRETS_KEY_ACTIONS: Fact[tuple[str, ...]] = fact(
    "KMS actions of the control plane's role", _TABLE["secrets_key_actions"], _TABLE
)


class KubectlLayer(NamedTuple):
    """Where the CDK's layer with kubectl and Helm is found for a Kubernetes version.

    Attributes:
        package: Name on PyPI.
        module: Python module.
        class_name: Class of the layer.
    """

    package: str
    module: str
    class_name: str


def kubectl_layer(kubernetes_version: str) -> KubectlLayer:
    """The layer for a Kubernetes version.

    Args:
        kubernetes_version: Such as ``1.33``.
    """
    minor = kubernetes_version.split(".")[1]
    said = _TABLE["kubectl_layer"]
    return KubectlLayer(*(said[name].format(minor=minor) for name in ("package", "module", "class")))


def add_on(name: str) -> AddOn:
    """Look up an add-on.

    Args:
        name: Such as ``vpc-cni``.

    Raises:
        UnknownNameError: If the catalog does not list it.
    """
    if name not in ADD_ONS:
        raise UnknownNameError("add-on", name, ADD_ONS)
    return ADD_ONS[name]
