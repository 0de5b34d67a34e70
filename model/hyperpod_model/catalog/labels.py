"""Labels, taints, annotations and resource names of HyperPod nodes in Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact


class NodeLabel(NamedTuple):
    """A label that HyperPod or Kubernetes puts on a node.

    Attributes:
        key: With its prefix.
        values: All documented values; None where any value may stand.
    """

    key: str
    values: tuple[str, ...] | None


class Taint(NamedTuple):
    """A taint that HyperPod puts on a node."""

    key: str
    value: str
    effect: str


_TABLE = table("labels")


def _label(name: str) -> NodeLabel:
    row: dict[str, Any] = _TABLE["labels"][name]
    return NodeLabel(row["key"], None if row["values"] is None else tuple(row["values"]))


NODE_HEALTH_STATUS = _label("node_health_status")
DEEP_HEALTH_CHECK_STATUS = _label("deep_health_check_status")
"""Only on nodes of groups with deep health checks: a selector on it matches nothing elsewhere."""

FAULT_TYPES = _label("fault_types")
FAULT_REASONS = _label("fault_reasons")
CLUSTER_NAME = _label("cluster_name")
INSTANCE_GROUP_NAME = _label("instance_group_name")
INSTANCE_GROUP_TYPE = _label("instance_group_type")
COMPUTE_TYPE = _label("compute_type")
INSTANCE_TYPE = _label("instance_type")
"""Its value carries the ``ml.`` prefix on HyperPod nodes."""

NETWORK_LAYERS = (_label("network_layer_1"), _label("network_layer_2"), _label("network_layer_3"))
ULTRASERVER_ID = _label("ultraserver_id")
MIG_CONFIG = _label("mig_config")
MIG_CONFIG_STATE = _label("mig_config_state")

ALL = tuple(_label(name) for name in _TABLE["labels"])

COMPUTE_TYPE_VALUE: Fact[str] = fact("value of the label compute-type", _TABLE["compute_type_value"], _TABLE)

FAULT_DETAILS_ANNOTATION: str = _TABLE["fault_details_annotation"]
MAX_FAULTS_IN_ANNOTATION: int = _TABLE["max_faults_in_annotation"]

UNSCHEDULABLE_TAINT = Taint(**_TABLE["unschedulable_taint"])
"""On nodes in deep health checks and on nodes with a fault."""

GPU_RESOURCE: str = _TABLE["resources"]["gpu"]
NEURON_RESOURCE: str = _TABLE["resources"]["neuron"]
NEURON_NAMES: Mapping[str, str] = MappingProxyType(
    fact("other resources of Neuron devices", _TABLE["neuron_names"], _TABLE).value
)
"""Other names under which device plug-ins offer Neuron: ``device`` for whole ones, ``core`` for parts."""

EFA_RESOURCE: str = _TABLE["resources"]["efa"]
HUGE_PAGES_RESOURCE: str = _TABLE["resources"]["huge_pages"]
