"""Jobs on EKS: kinds, labels, annotations, environment, and what goes with what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from hyperpod_model.catalog._tables import fact, frozen, table
from hyperpod_model.catalog.fact import Fact
from hyperpod_model.catalog.names import NameRule

OperatorName = Literal["kubeflow", "hyperpod"]
Variable = tuple[str, str]
"""Name and value of an environment variable."""


@dataclass(frozen=True, slots=True)
class JobOperator:
    """An operator that runs jobs, and the Kubernetes resource by which it is asked.

    Attributes:
        api_version: Of the resource, such as ``kubeflow.org/v1``.
        kind: Of the resource, such as ``PyTorchJob``.
        container_name: Name of the container that trains; for ``PyTorchJob`` no other is found.
        replica_name: Name of the replicas that train.
        launcher: Program that starts the processes of a node.
        clean_pod_policies: What may become of the pods when the job is over.
        default_clean_pod_policy: The one that keeps what is needed to read the logs.
    """

    api_version: str
    kind: str
    container_name: str
    replica_name: str
    launcher: str
    clean_pod_policies: tuple[str, ...]
    default_clean_pod_policy: str
    _pod_name: str

    def pod_name(self, job: str, index: int) -> str:
        """Name of a pod.

        Args:
            job: Name of the job.
            index: Which of the replicas, from 0.
        """
        return self._pod_name.format(job=job, index=index)


_TABLE = table("jobs")
_RESUME = _TABLE["auto_resume"]
_GOVERNANCE = _TABLE["task_governance"]
_CHECKPOINTLESS = _TABLE["checkpointless"]
_TIERED = _TABLE["tiered_checkpointing"]
_SHUTDOWN = _TABLE["agent_shutdown"]
_TORCHRUN = _TABLE["torchrun_shutdown"]
_OUTPUT = _TABLE["monitored_output"]


def _operator(name: str, row: dict[str, Any]) -> JobOperator:
    return JobOperator(
        api_version=row["api_version"],
        kind=row["kind"],
        container_name=row["container_name"],
        replica_name=row["replica_name"],
        launcher=_TABLE["launchers"][name],
        clean_pod_policies=tuple(row["clean_pod_policies"]),
        default_clean_pod_policy=row["default_clean_pod_policy"],
        _pod_name=row["pod_name"],
    )


OPERATORS: Mapping[str, JobOperator] = MappingProxyType(
    {name: _operator(name, row) for name, row in _TABLE["operators"].items()}
)
"""By name: ``kubeflow`` and ``hyperpod``."""

JOB_NAME: NameRule = NameRule(**_TABLE["names"]["job"])
"""Pods and services are named after the job; a service's name begins with a letter."""

POD_NAME_CHARACTERS: int = _TABLE["names"]["pod_name_characters"]
"""Most characters of a pod's name that is also a host name and a label."""

TEAM: NameRule = NameRule(**_TABLE["names"]["team"])
"""Of a team or a priority class in task governance."""

ENVIRONMENT_VARIABLE: NameRule = NameRule(**_TABLE["names"]["environment_variable"])
LABEL_KEY: NameRule = NameRule(**_TABLE["names"]["label_key"])
LABEL_VALUE: NameRule = NameRule(**_TABLE["names"]["label_value"])
OBJECT_NAME: NameRule = NameRule(**_TABLE["names"]["object"])
"""Of claims and priority classes."""

AUTO_RESUME_ANNOTATION: str = _RESUME["enable_annotation"]
RETRIES_ANNOTATION: str = _RESUME["retries_annotation"]
AUTO_RESUME_RESTART_POLICY: str = _RESUME["restart_policy"]
AUTO_RESUME_NAMESPACE: str = _RESUME["namespaces"]["name"]
AUTO_RESUME_NAMESPACE_PREFIX: str = _RESUME["namespaces"]["prefix"]
"""Kubeflow jobs resume in :data:`AUTO_RESUME_NAMESPACE` and in namespaces that begin with this."""

QUEUE_LABEL: str = _GOVERNANCE["queue_label"]
PRIORITY_LABEL: str = _GOVERNANCE["priority_label"]
REQUIRED_TOPOLOGY_ANNOTATION: str = _GOVERNANCE["required_topology_annotation"]
PREFERRED_TOPOLOGY_ANNOTATION: str = _GOVERNANCE["preferred_topology_annotation"]

TEAM_NAMESPACE_PREFIX: str = _GOVERNANCE["namespace"].format(team="")
"""Beginning of the namespace that task governance makes for a team."""

AGENT_SIGNAL_FLAG: str = _SHUTDOWN["signal_flag"]
AGENT_TIMEOUT_FLAG: str = _SHUTDOWN["timeout_flag"]
AGENT_GRACEFUL_SIGNAL: str = _SHUTDOWN["graceful_signal"]
"""The HyperPod agent kills processes outright unless it is told to send this first."""

IN_PROCESS_RESTART_FLAG: str = _SHUTDOWN["in_process_restart_flag"]

TORCHRUN_SHUTDOWN_VARIABLE: str = _TORCHRUN["variable"]
"""Seconds from SIGTERM until ``torchrun`` kills its processes, as text."""

TORCHRUN_SHUTDOWN_FIRST_VERSION: str = _TORCHRUN["first_version"]
"""First version of PyTorch that reads the variable; before, the default holds."""

TORCHRUN_SHUTDOWN_SECONDS: int = _TORCHRUN["default_seconds"]
"""By default, whatever the grace period of the pod."""

SEPARATE_STORE: Variable = fact(
    "store of processes apart from that of the rendezvous", _TABLE["separate_store"], _TABLE
).value
"""Without it, agents of ``torchrun`` that stay do not tell a new one where the processes meet."""

SHUTDOWN_MARGIN_SECONDS: int = _TABLE["shutdown_margin_seconds"]
"""What launchers keep of a pod's grace period to end themselves."""

DEFAULT_MASTER_PORT: int = _TABLE["master_port"]
"""On which the first pod of a ``PyTorchJob`` is reached, unless the job says otherwise."""

KUBEFLOW_VARIABLES: tuple[str, ...] = tuple(_TABLE["kubeflow_variables"])
"""Set by the Kubeflow operator, and only in jobs that have a master."""

TORCHRUN_VARIABLE_PREFIX: str = _TABLE["torchrun_variable_prefix"]
"""Environment variables that begin so are options of ``torchrun``; those on the command line win."""

SIGNAL_COORDINATION: Variable = fact(
    "signal coordination of elastic jobs", _TABLE["signal_coordination"], _TABLE
).value
LOG_COMPARISONS: tuple[str, ...] = tuple(_TABLE["log_comparisons"])

MONITORED_OUTPUT_OPTION: Variable = fact(
    "option of the launcher by which log monitoring sees lines", _OUTPUT["option"], _TABLE
).value
"""Name and smallest value. The file is never rotated, so that no more of the output goes into it."""

OUTPUT_OPTIONS: Mapping[str, str] = MappingProxyType(_OUTPUT["options"])
"""Options of both launchers that send output into files, without dashes, each with its letter."""

OUTPUT_VARIABLES: Mapping[str, str] = MappingProxyType(_OUTPUT["variables"])
"""By option, the environment variable that holds where the option is not given."""

OUTPUT_VALUE: NameRule = NameRule(**_OUTPUT["value"])
"""Of these options and variables."""

LOG_PATTERNS_BEGIN_LINES: Fact[bool] = fact(
    "whether patterns of log monitoring are matched from the start of a line",
    _OUTPUT["patterns_begin_lines"],
    _TABLE,
)
FAULT_ON_MATCH: Fact[bool] = fact("faultOnMatch of log monitoring", _TABLE["fault_on_match"], _TABLE)

INCOMPATIBLE_WITH_ELASTIC: tuple[str, ...] = tuple(
    fact("what goes not with elastic training", _TABLE["incompatible_with_elastic"], _TABLE).value
)

CHECKPOINTLESS_TIERS: Mapping[int, str] = MappingProxyType(
    {int(tier): words for tier, words in _CHECKPOINTLESS["tiers"].items()}
)
"""Each includes those below it."""

ROOTLESS: Fact[Variable] = fact(
    "variable of rootless initialization",
    _CHECKPOINTLESS["rootless"],
    _CHECKPOINTLESS | {"checked_on": _TABLE["checked_on"]},
)
"""The blog's announcement names others, which the package does not read."""

PORT_RANGE_SYSCTL: Variable = frozen(_CHECKPOINTLESS["port_range_sysctl"])
"""Kernel parameter and value of the network namespace in which rootless initialization connects."""

IN_PROCESS_TIER: int = _CHECKPOINTLESS["in_process_tier"]
PEER_TIER: int = _CHECKPOINTLESS["peer_tier"]
LEAST_OPTIMIZER_INSTANCES: int = _CHECKPOINTLESS["least_optimizer_instances"]
"""Replicas of the distributed optimizer's state, from :data:`PEER_TIER` on."""

TIERED_ENDPOINT: str = _TIERED["endpoint"]
"""Where pods find the memory tier: a name within the cluster."""

DNS_POLICY_WITH_HOST_NETWORK: str = _TIERED["dns_policy_with_host_network"]
"""Without it, a pod in the host's network cannot resolve names within the cluster."""

TIERED_NAMESPACE: NameRule = NameRule(**_TABLE["names"]["tiered_namespace"])
"""Of a job's checkpoints in the memory tier, not of Kubernetes."""

TIERED_PACKAGE: str = _TIERED["package"]
ACCELERATOR_TAINTS: Mapping[str, str] = MappingProxyType(
    {kind: _TABLE["accelerator_taints"][kind] for kind in ("gpu", "neuron")}
)
"""Key of the taint that nodes commonly have, by kind of accelerator."""

SHELLS: tuple[str, ...] = tuple(_TABLE["shells"])
"""Programs that do not hand SIGTERM on to what they run."""


def team_namespace(team: str) -> str:
    """Namespace that task governance makes for a team."""
    return str(_GOVERNANCE["namespace"].format(team=team))


def team_queue(team: str) -> str:
    """Queue of a team's namespace."""
    return str(_GOVERNANCE["queue"].format(team=team))


def workload_priority(priority_class: str) -> str:
    """Value of the priority label for a priority class of task governance."""
    return str(_GOVERNANCE["priority"].format(priority_class=priority_class))


def auto_resumes_in(namespace: str) -> bool:
    """Whether HyperPod resumes Kubeflow jobs of a namespace."""
    return namespace == AUTO_RESUME_NAMESPACE or namespace.startswith(AUTO_RESUME_NAMESPACE_PREFIX)
