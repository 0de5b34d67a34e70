"""Autoscaling of nodes with Karpenter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_iam as iam

from hyperpod_constructs.argument_kinds import ROLE, check_kind
from hyperpod_constructs.value_faults import choice_faults, refuse_value
from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.faults import Fault


@dataclass(frozen=True, kw_only=True)
class AutoScaling:
    """Karpenter, which the service runs, and the role with which it adds and removes nodes.

    Needs the EKS orchestrator, continuous provisioning and automatic recovery. Groups that a
    ``HyperPodNodeClass`` names start with no instances: Karpenter takes their number over, and scales those
    of more down to none. Source: SageMaker AI developer guide, sagemaker-hyperpod-eks-autoscaling and
    sagemaker-hyperpod-eks-autoscaling-nodeclass.

    Args:
        mode: ``Enable``, ``Disable``, or ``None`` to send the role only. Default: ``Enable``.
        role: Role that HyperPod takes, with ``sagemaker:BatchAddClusterNodes`` and
            ``sagemaker:BatchDeleteClusterNodes``; ``AutoscalingRole`` is one. It cannot be changed while
            autoscaling is enabled: disable it first, deploy, then change. Required to enable. Default: none.

    Raises:
        InvalidInputError: If there is no such mode, or the role is missing.
    """

    mode: str | None = "Enable"
    role: iam.IRole | None = None

    def __post_init__(self) -> None:
        faults = choice_faults(self.mode, cluster_request().at("AutoScaling", "Mode").enum, "mode")
        faults += check_kind(self.role, ROLE, ("role",))
        if self.mode == "Enable" and self.role is None:
            faults.append(Fault(("role",), "is required to enable autoscaling; AutoscalingRole makes one"))
        if self.mode is None and self.role is None:
            faults.append(Fault(("mode",), "and role are both None; leave auto_scaling out instead"))
        refuse_value("autoscaling", faults)

    def to_request(self) -> dict[str, Any] | None:
        """Return ``AutoScaling`` of a ``CreateCluster`` request; ``None`` where only the role is sent."""
        if self.mode is None:
            return None
        return {
            "Mode": self.mode,
            "AutoScalerType": cluster_request().at("AutoScaling", "AutoScalerType").enum[0],
        }
