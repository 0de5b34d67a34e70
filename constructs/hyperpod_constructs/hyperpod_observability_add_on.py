"""The EKS add-on that collects a HyperPod cluster's figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import Stack
from constructs import Construct

from hyperpod_constructs.add_on_with_role import AddOnWithRole
from hyperpod_constructs.argument_faults import refuse_arguments
from hyperpod_constructs.argument_kinds import check_mapping
from hyperpod_constructs.eks_control_plane import EksControlPlaneBase
from hyperpod_constructs.hyperpod_cluster import HyperPodClusterBase
from hyperpod_constructs.managed_prometheus import ManagedPrometheus
from hyperpod_constructs.tokens import known
from hyperpod_model.catalog.metrics import (
    CONFIGURATION,
    GOVERNANCE_CATEGORY,
    GOVERNANCE_LEVEL,
    HYPERPOD_OBSERVABILITY,
)
from hyperpod_model.checks.metrics import check_metric_levels
from hyperpod_model.faults import Fault


class HyperPodObservabilityAddOn(Construct):
    """``amazon-sagemaker-hyperpod-observability``: figures of nodes, accelerators and queues into Prometheus.

    Its collector's role may write to that one workspace and do nothing else; the add-on's own collection of
    logs, which needs more, is off. The smallest node that has room for its pods is a ``4xlarge``. On nodes of
    restricted groups the groups' execution role writes instead: call ``prometheus.grant_write`` for it.
    Source: SageMaker developer guide, hyperpod-observability-addon-setup.

    Args:
        scope: Parent of the construct.
        id: Id within the parent.
        control_plane: EKS cluster that gets the add-on, with ``eks-pod-identity-agent``.
        cluster: HyperPod cluster whose nodes run its pods; the add-on comes after it.
        prometheus: Workspace that gets the figures.
        metric_levels: Level by category, such as ``{"trainingMetrics": "BASIC"}``. Default: task governance
            in full, else the add-on's own levels.
        version: Version of the add-on. Default: what EKS takes for its Kubernetes version.

    Attributes:
        add_on: The add-on with its role.

    Raises:
        InvalidInputError: If an argument is of another kind, or a category or level is unknown.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        control_plane: EksControlPlaneBase,
        cluster: HyperPodClusterBase,
        prometheus: ManagedPrometheus,
        metric_levels: Mapping[str, str] | None = None,
        version: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        owner = f"HyperPod observability add-on '{self.node.path}'"
        refuse_arguments(
            owner,
            check_mapping(
                {} if metric_levels is None else metric_levels, ("metric_levels",), of="levels by category"
            ),
        )
        chosen = {} if metric_levels is None else dict(metric_levels)
        faults = [
            fault._replace(path=("metric_levels", *fault.path))
            for fault in check_metric_levels({name: known(level) for name, level in chosen.items()})
        ]
        if not isinstance(prometheus, ManagedPrometheus):
            faults.append(Fault(("prometheus",), f"must be a ManagedPrometheus(...), got {prometheus!r}"))
        refuse_arguments(owner, faults)
        self.add_on = AddOnWithRole(
            self,
            "AddOn",
            add_on=HYPERPOD_OBSERVABILITY,
            control_plane=control_plane,
            cluster=cluster,
            version=version,
            configuration=Stack.of(self).to_json_string(_configuration(prometheus, chosen)),
        )
        prometheus.grant_write(self.add_on.role)


def _configuration(prometheus: ManagedPrometheus, chosen: Mapping[str, str]) -> dict[str, Any]:
    endpoint, arn = CONFIGURATION.assuming(
        because="EKS holds the configuration against its schema and refuses others in words"
    )
    levels = {GOVERNANCE_CATEGORY: GOVERNANCE_LEVEL, **chosen}
    return {
        "ampWorkspace": {endpoint: prometheus.endpoint, arn: prometheus.workspace_arn},
        "metricsProvider": {category: {"level": level} for category, level in levels.items()},
        "logging": {"enabled": False},
    }
