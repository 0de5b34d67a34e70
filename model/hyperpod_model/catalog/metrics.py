"""Figures of a cluster: Prometheus, Grafana, Container Insights, and the EKS add-ons that collect them."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

from hyperpod_model.catalog._tables import fact, frozen, table
from hyperpod_model.catalog.fact import Fact

MetricLevel = Literal["DISABLED", "BASIC", "ADVANCED"]
GrafanaAuthentication = Literal["AWS_SSO", "SAML"]


class MetricsAddOn(NamedTuple):
    """An EKS add-on that collects figures.

    Attributes:
        name: Name of the add-on.
        namespace: Kubernetes namespace of its pods.
        service_account: Service account of the pods that send figures, which needs a role.
    """

    name: str
    namespace: str
    service_account: str


_TABLE = table("metrics")
_KUEUE = _TABLE["kueue"]
_HYPERPOD = _TABLE["hyperpod_add_on"]
_INSIGHTS = _TABLE["container_insights"]


def _value(entry: Any) -> Any:
    return frozen(entry["value"] if isinstance(entry, dict) else entry)


def _add_on(row: dict[str, Any]) -> MetricsAddOn:
    return MetricsAddOn(row["name"], row["namespace"], row["service_account"])


PROMETHEUS_SERVICE: str = _TABLE["service"]
TOPIC_ACTIONS: tuple[str, ...] = tuple(_TABLE["topic_actions"])
"""What alert managers need of a topic."""

WRITE_ACTION: str = _TABLE["write_action"]
READ_ACTIONS: tuple[str, ...] = _value(_TABLE["read_actions"])
"""What a reader needs of a workspace of Prometheus."""

WORKSPACE_KEY_ACTIONS: Fact[tuple[str, ...]] = fact(
    "KMS actions of whoever creates a workspace with a key", _TABLE["workspace_key_actions"], _TABLE
)

RUNNING: str = _value(_KUEUE["running"])
"""Gauge by ``cluster_queue``: admitted jobs that are neither suspended nor finished."""

PENDING: str = _value(_KUEUE["pending"])
"""Gauge by ``cluster_queue`` and ``status``."""

ADMITTED: str = _value(_KUEUE["admitted"])
"""Counter by ``cluster_queue``."""

WAIT_SECONDS: str = _value(_KUEUE["wait_seconds"])
"""Histogram by ``cluster_queue``, of jobs that were admitted."""

PREEMPTED: str = _value(_KUEUE["preempted"])
"""Counter by ``preempting_cluster_queue`` and ``reason``."""

COLLECTED_UNDER_KUEUE_NAMES: Fact[bool] = fact(
    "whether the HyperPod add-on keeps the names of Kueue's metrics",
    _TABLE["collected_under_kueue_names"],
    _TABLE,
)

HYPERPOD_OBSERVABILITY: MetricsAddOn = _add_on(_HYPERPOD)
AGENT_ADD_ON: str = _HYPERPOD["requires"]
"""Add-on that hands roles to the pods of the others."""

CONFIGURATION: Fact[tuple[str, ...]] = fact(
    f"members of ampWorkspace in the configuration of {HYPERPOD_OBSERVABILITY.name}",
    _HYPERPOD["configuration"],
    _TABLE,
)
CATEGORIES: tuple[str, ...] = _value(_HYPERPOD["categories"])
LEVELS: Fact[tuple[MetricLevel, ...]] = fact(
    f"levels of metrics of {HYPERPOD_OBSERVABILITY.name}", _HYPERPOD["levels"], _TABLE
)
GOVERNANCE_CATEGORY: str = _HYPERPOD["governance_category"]
GOVERNANCE_LEVEL: MetricLevel = _HYPERPOD["governance_level"]
SMALLEST_NODE: str = _HYPERPOD["smallest_node"]
"""Smallest size of a node that has room for the pods of the HyperPod add-on."""

SLURM_EXTENSION: str = _TABLE["slurm_extension"]["name"]
SLURM_EXTENSION_OPERATION: str = _TABLE["slurm_extension"]["operation"]
"""The only way to what the HyperPod add-on does for EKS, on a cluster with Slurm: a call of the API."""

SLURM_EXTENSION_PROVISIONING: str = _TABLE["slurm_extension"]["provisioning"]
"""Provisioning mode that the extension requires."""

CONTAINER_INSIGHTS: MetricsAddOn = _add_on(_INSIGHTS)
AGENT_POLICY: str = _INSIGHTS["policy"]
"""AWS managed policy of the role of Container Insights."""

POD_IDENTITY_SINCE: str = _INSIGHTS["pod_identity_since"]
"""First version of Container Insights that takes a role by Pod Identity."""

GRAFANA_SERVICE: str = _TABLE["grafana"]["service"]
GRAFANA_AUTHENTICATION: tuple[GrafanaAuthentication, ...] = get_args(GrafanaAuthentication)
