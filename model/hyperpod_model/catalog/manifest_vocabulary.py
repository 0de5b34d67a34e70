"""Words that manifests of training jobs may hold, where neither schema nor server checks them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from hyperpod_model.catalog._tables import fact, table
from hyperpod_model.catalog.fact import Fact

_TABLE = table("manifest_vocabulary")


def _words(name: str) -> tuple[str, ...]:
    return tuple(_TABLE[name])


KUBEFLOW_REPLICAS = _words("kubeflow_replicas")
"""What a ``PyTorchJob`` is made of, the master first."""

REPLICA_RESTART_POLICIES = _words("replica_restart_policies")
"""Of the replicas of a ``PyTorchJob``."""

POD_RESTART_POLICIES = _words("pod_restart_policies")
RENDEZVOUS_BACKENDS = _words("rendezvous_backends")
DNS_POLICIES = _words("dns_policies")
IMAGE_PULL_POLICIES = _words("image_pull_policies")
EMPTY_DIR_MEDIA = _words("empty_dir_media")
TOLERATION_OPERATORS = _words("toleration_operators")
TAINT_EFFECTS = _words("taint_effects")
PROCESS_COUNTS = _words("process_counts")
"""What may stand for a number of processes per node."""

DEFAULT_GRACE_PERIOD_SECONDS: int = _TABLE["default_grace_period_seconds"]
"""From SIGTERM to SIGKILL, where a pod does not say."""

DEFAULT_SHARED_MEMORY_MIB: int = fact(
    "shared memory of a container", _TABLE["default_shared_memory_mib"], _TABLE
).value
AGENT_SHUTDOWN_TIMEOUT_SECONDS: int = fact(
    "seconds from SIGTERM to SIGKILL of the agent", _TABLE["agent_shutdown_timeout_seconds"], _TABLE
).value
OPERATOR_VARIABLES: tuple[str, ...] = fact(
    "variables that operator and launcher set", _TABLE["operator_variables"], _TABLE
).value

CHECKPOINTLESS_PREFIX: str = fact(
    "beginning of variables of checkpointless training", _TABLE["checkpointless_variable_prefix"], _TABLE
).value
TIERED_LOG_DIRECTORY: Fact[dict[str, str]] = fact(
    "directory of the logs of tiered checkpointing", _TABLE["tiered_log_directory"], _TABLE
)
SPOT_LABELS: Mapping[str, str] = MappingProxyType(
    fact("labels of Spot nodes", _TABLE["capacity_type_labels"], _TABLE).value
)
"""Labels of nodes, each with the value that says Spot."""


def members(place: str, operator: Literal["kubeflow", "hyperpod"] | None = None) -> tuple[str, ...]:
    """Names that a part of a job may have.

    Args:
        place: ``spec``, ``elasticPolicy``, ``runPolicy``, ``replicas``, ``restartPolicy`` or
            ``logMonitoringConfiguration`` of an operator; ``pod`` or ``container`` of both.
        operator: Whose job it is. By default for what is the same in both.
    """
    owner = _TABLE["members"] if operator is None else _TABLE["members"][operator]
    return tuple(owner[place])
