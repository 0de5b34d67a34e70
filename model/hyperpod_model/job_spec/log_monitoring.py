"""Rules on a job's log, by which the HyperPod operator finds jobs that hang, are slow or went wrong."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.spec_files.spec_model import SpecModel

Comparison = Literal["gt", "gteq", "lt", "lteq", "eq"]


class LogMonitoringSpec(SpecModel):
    """A rule on what the job's processes print. The job restarts where it is broken."""

    name: str = Field(
        description="Name of the rule, another one for each.", json_schema_extra={"minLength": 1}
    )
    pattern: str = Field(
        description=(
            "Regular expression for the lines that count, from the start of the line: begin it with .* if "
            "something stands before. With one group in parentheses around the number that threshold is "
            "compared with. Lines are those that the first process of a node writes on standard output; "
            "Python's logging writes on standard error, unless given sys.stdout."
        ),
        json_schema_extra={"minLength": 1},
    )
    starts_within_seconds: int | None = Field(
        default=None,
        description="Seconds within which the first such line must come, else the job hangs. By default any.",
        json_schema_extra={"minimum": 1},
    )
    repeats_within_seconds: int | None = Field(
        default=None,
        description=(
            "Seconds within which such a line must follow the last, else the job hangs. By default any."
        ),
        json_schema_extra={"minimum": 1},
    )
    threshold: int | None = Field(
        default=None,
        description=(
            "Whole number that the number in the line is compared with. Needs comparison. By default nothing "
            "is compared."
        ),
    )
    comparison: Comparison | None = Field(
        default=None,
        description=(
            "The job is slow where the number in the line is greater ('gt'), greater or equal ('gteq'), less "
            "('lt'), less or equal ('lteq') or equal ('eq'), compared with threshold. By default nothing is "
            "compared."
        ),
    )
    data_points: int | None = Field(
        default=None,
        description="Lines in a row for which that must be so. By default 1.",
        json_schema_extra={"minimum": 1},
    )
    stop_pattern: str | None = Field(
        default=None,
        description=(
            "Regular expression for the line from which on the rule is off, from the start of the line. By "
            "default it stays on."
        ),
    )
    fault_on_match: bool = Field(
        default=False,
        description=(
            "Whether one such line is a fault, as for a loss that is NaN. The documentation has it, AWS's "
            "own "
            "model of the resource does not, so that an operator may refuse it. By default false."
        ),
    )
