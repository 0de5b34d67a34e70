"""Autoscaling of nodes with Karpenter."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.cluster_spec.request_schema import schema_of
from hyperpod_model.spec_files.spec_model import SpecModel

AutoScalingMode = Literal["Enable", "Disable"]


class AutoScalingSpec(SpecModel):
    """Autoscaling by Karpenter, which HyperPod runs. EKS with continuous provisioning only."""

    mode: AutoScalingMode | None = Field(
        default="Enable",
        description=("'Enable' or 'Disable'; null: only the role is sent. By default 'Enable'."),
    )
    role_arn: str | None = Field(
        default=None,
        description=(
            "ARN of an existing role that HyperPod takes to add and delete nodes. Cannot change while "
            "autoscaling is on. By default a role is made where mode is 'Enable'."
        ),
        json_schema_extra=schema_of(cluster_request().at("ClusterRole")),
    )
