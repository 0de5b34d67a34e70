"""A Kubernetes taint of nodes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.cluster_spec.request_schema import schema_of
from hyperpod_model.spec_files.spec_model import SpecModel

TaintEffect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]

_TAINT = instance_group().at("KubernetesConfig", "Taints")


class KubernetesTaintSpec(SpecModel):
    """A taint: pods without a toleration for it stay away from the nodes."""

    key: str = Field(
        description="Key of the taint, such as example.com/team.",
        json_schema_extra=schema_of(_TAINT.at("Key")),
    )
    value: str | None = Field(
        default=None,
        description="Value of the taint. By default none.",
        json_schema_extra=schema_of(_TAINT.at("Value")),
    )
    effect: TaintEffect = Field(
        description="'NoSchedule', 'PreferNoSchedule' or 'NoExecute', as Kubernetes has them."
    )
