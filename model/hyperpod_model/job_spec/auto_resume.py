"""What restarts a job, and how often."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.spec_files.spec_model import SpecModel


class AutoResumeSpec(SpecModel):
    """Restarts after faults. They are limited, so that a job that cannot run gives its nodes back."""

    max_retries: int = Field(
        default=10,
        description="Most restarts of the job. By default 10.",
        json_schema_extra={"minimum": 1},
    )
    evaluation_period_seconds: int = Field(
        default=3600,
        description=(
            "Seconds over which restarts are counted. Operator 'hyperpod' only. By default 3600, an hour."
        ),
        json_schema_extra={"minimum": 1},
    )
    restarts_before_full_restart: int = Field(
        default=3,
        description=(
            "Restarts of processes alone before all pods are made anew. Operator 'hyperpod' only. By "
            "default 3."
        ),
        json_schema_extra={"minimum": 0},
    )
    max_full_restarts: int | None = Field(
        default=None,
        description=(
            "Most times that all pods are made anew. Operator 'hyperpod' only. By default max_retries."
        ),
        json_schema_extra={"minimum": 0},
    )
