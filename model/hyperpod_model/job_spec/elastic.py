"""Jobs whose number of nodes changes while they run."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.spec_files.spec_model import Items, SpecModel


class ElasticSpec(SpecModel):
    """How many nodes the job runs on: as many as there are, between two numbers."""

    min_nodes: int = Field(description="Fewest nodes that the job runs on.", json_schema_extra={"minimum": 1})
    max_nodes: int = Field(description="Most nodes that the job runs on.", json_schema_extra={"minimum": 1})
    step_nodes: int | None = Field(
        default=None,
        description=(
            "Nodes that are added or taken away at a time. Operator 'hyperpod' only, which needs this or "
            "allowed_nodes. By default none."
        ),
        json_schema_extra={"minimum": 1},
    )
    allowed_nodes: Items[int] = Field(
        default=(),
        description=(
            "All numbers of nodes that the job may run on, in place of step_nodes. Operator 'hyperpod' only. "
            "By default none."
        ),
    )
    scaling_timeout_seconds: int | None = Field(
        default=None,
        description=(
            "Seconds that a change of the number of nodes may take. Operator 'hyperpod' only. By default "
            "what the operator takes."
        ),
        json_schema_extra={"minimum": 1},
    )
    graceful_shutdown_timeout_seconds: int | None = Field(
        default=None,
        description=(
            "Seconds that processes get to save a checkpoint before the number of nodes changes. Operator "
            "'hyperpod' only. By default what the operator takes."
        ),
        json_schema_extra={"minimum": 1},
    )
    faulty_scale_down_timeout_seconds: int | None = Field(
        default=None,
        description=(
            "Seconds after a fault until the job goes on without the pods that failed. Operator 'hyperpod' "
            "only. By default what the operator takes."
        ),
        json_schema_extra={"minimum": 1},
    )
    scale_up_snooze_seconds: int | None = Field(
        default=None,
        description=(
            "Seconds after a restart in which no node is added. Operator 'hyperpod' only. By default none."
        ),
        json_schema_extra={"minimum": 0},
    )
