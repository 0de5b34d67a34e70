"""What can be asked of an account before a cluster is made, and which permission each question takes."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact


class Read(NamedTuple):
    """An operation that changes nothing.

    Attributes:
        service: Its service, as boto3 names it, such as ``service-quotas``.
        operation: In the spelling of the API, such as ``ListServiceQuotas``.
        action: IAM action that permits it; None if none is needed.
        resource: What a statement may scope the action to, such as ``role``; None if it takes ``*`` only.
    """

    service: str
    operation: str
    action: str | None
    resource: str | None


_TABLE: Final[dict[str, Any]] = table("preflight")
_PLAN: Final[dict[str, Any]] = _TABLE["training_plan"]

READS: tuple[Read, ...] = tuple(Read(**row) for row in _TABLE["reads"])

CLUSTERS_QUOTA_SERVICE: str = _TABLE["quota_services"]["clusters"]
NETWORK_INTERFACES_QUOTA_SERVICE: str = _TABLE["quota_services"]["network_interfaces"]
"""Codes of services in Service Quotas."""

RESERVED_CAPACITY_COUNTS: Fact[bool] = fact(
    "training plans and Spot in the quotas of clusters", _TABLE["reserved_capacity_counts"], _TABLE
)

TRAINING_PLAN_TARGET: str = _PLAN["target"]
"""Target of the training plans that clusters can use; a plan for another target serves that one alone."""

USABLE_TRAINING_PLAN_STATUSES: tuple[str, ...] = tuple(_PLAN["statuses"]["usable"])
TRAINING_PLAN_NOT_BEGUN: str = _PLAN["statuses"]["not_begun"]
"""An instance group can have such a plan, and gets its nodes when the plan begins."""

TRAINING_PLAN_NOT_PAID: str = _PLAN["statuses"]["not_paid"]

GOOD_ZONE_STATES: tuple[str, ...] = tuple(_TABLE["zone_states"]["good"])
CLUSTER_STATUSES_AT_REST: tuple[str, ...] = tuple(_TABLE["clusters_at_rest"])
"""Statuses of a cluster that takes an update."""

EFA_DEVICE_PLUGIN_IMAGE: Fact[str] = fact(
    "image of the EFA device plugin", _TABLE["efa_device_plugin_image"], _TABLE
)
"""End of the image's repository. Names and labels of the plugin depend on who installed it."""

INSTANCE_TYPE_LABELS: tuple[str, ...] = tuple(_TABLE["instance_type_labels"])
"""Labels of Kubernetes by which workloads choose nodes of an instance type."""

CODES_OF_CLOSED_REGIONS: Fact[tuple[str, ...]] = fact(
    "error codes of regions that are not enabled", _TABLE["codes_of_closed_regions"], _TABLE
)

CLUSTER_TYPE: str = _TABLE["resource_types"]["cluster"]
TOPIC_TYPE: str = _TABLE["resource_types"]["topic"]
BUDGET_TYPE: str = _TABLE["resource_types"]["budget"]
PROMETHEUS_TYPE: str = _TABLE["resource_types"]["prometheus"]
GRAFANA_TYPE: str = _TABLE["resource_types"]["grafana"]
"""CloudFormation types of what a cluster's stack makes, as far as regions may lack it."""

ABSENT_RESOURCE_TYPE: Fact[str] = fact(
    "error code where CloudFormation lacks a type", _TABLE["absent_resource_type"], _TABLE
)
KUEUE_DEFINITION: Fact[str] = fact("resource definition of Kueue", _TABLE["kueue_definition"], _TABLE)
"""Where it is, there is a Kueue."""

KUBERNETES_READ_POLICY: str = _TABLE["kubernetes_read_policy"]
"""EKS access policy that lets a role read all objects, definitions of resources included."""
