from __future__ import annotations

from typing import Any

from plain_jobs import (
    DURABLE,
    ELASTIC,
    HYPERPOD_ELASTIC,
    TIERED,
    WITH_CHECKPOINTLESS,
    Case,
    table_tests,
)

IS_TIERED = {"tiered_checkpointing": TIERED, "checkpoint": DURABLE}

CASES = [
    Case(WITH_CHECKPOINTLESS | HYPERPOD_ELASTIC, ("checkpointless",), "does not go with elastic training"),
    Case(
        IS_TIERED | HYPERPOD_ELASTIC,
        ("tiered_checkpointing",),
        "does not go with elastic training.*fixed number",
    ),
    Case(IS_TIERED | ELASTIC, ("tiered_checkpointing",), "does not go with elastic training"),
    Case(
        HYPERPOD_ELASTIC | {"capacity_type": "spot"}, ("capacity_type",), "does not go with elastic training"
    ),
    Case(ELASTIC | {"capacity_type": "spot"}, ("capacity_type",), "try it before relying on it", "warning"),
]
LEGAL: list[dict[str, Any]] = [ELASTIC, HYPERPOD_ELASTIC, IS_TIERED, {"capacity_type": "spot"}]


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
