"""Tolerations of a job's pods."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.spec_files.spec_model import SpecModel

TolerationOperator = Literal["Exists", "Equal"]
TaintEffect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class TolerationSpec(SpecModel):
    """A taint of nodes that the pods put up with, besides those of accelerators."""

    key: str = Field(description="Key of the taint.")
    operator: TolerationOperator = Field(
        default="Exists", description="'Exists' for any value, 'Equal' for one. By default 'Exists'."
    )
    value: str | None = Field(
        default=None, description="Value of the taint, for 'Equal' only. By default none."
    )
    effect: TaintEffect | None = Field(default=None, description="Effect of the taint. By default any.")
    toleration_seconds: int | None = Field(
        default=None,
        description="Seconds for which a 'NoExecute' taint is put up with. By default without end.",
        json_schema_extra={"minimum": 0},
    )
