from __future__ import annotations

from typing import Any

from plain_jobs import DURABLE, TIERED, WITH_CHECKPOINTLESS, Case, table_tests


def kept(**values: Any) -> dict[str, Any]:
    return {"checkpoint": values}


def tiered(checkpoint: dict[str, Any] | None = DURABLE, **changes: Any) -> dict[str, Any]:
    return {"tiered_checkpointing": TIERED | changes, "checkpoint": checkpoint}


NO_INTERVAL = DURABLE | {"s3_interval_steps": None}
READ_ONLY = {"persistent_volume_claims": [{"claim_name": "a", "mount_path": "/fsx", "read_only": True}]}

CASES = [
    Case(kept(save_seconds=20), ("checkpoint",), "names no place; give path, s3_uri"),
    Case(kept(path="/fsx/a", save_seconds=0), ("checkpoint", "save_seconds"), "must be 1 or more"),
    Case(kept(path="a"), ("checkpoint", "path"), "must be an absolute path in the container"),
    Case(
        kept(path="/tmp/a"),
        ("checkpoint", "path"),
        "on none of the persistent_volume_claims, so that it is lost with the pod",
    ),
    Case(kept(path="/fsx2/a"), ("checkpoint", "path"), "on none of the persistent_volume_claims"),
    Case(kept(path="/fsx/a") | READ_ONLY, ("checkpoint", "path"), "on a claim that is read_only"),
    Case(kept(path="/fsx/a", s3_uri="bucket/a"), ("checkpoint", "s3_uri"), "must be s3://bucket/prefix"),
    Case(kept(path="/fsx/a", s3_uri="s3://B/a"), ("checkpoint", "s3_uri"), "with a bucket of 3 to 63"),
    Case(
        kept(path="/fsx/a", s3_interval_steps=10),
        ("checkpoint", "s3_uri"),
        "is required with s3_interval_steps",
    ),
    Case(
        kept(**DURABLE) | {"service_account": None},
        ("service_account",),
        "have no role that may write",
        "warning",
    ),
    Case(
        tiered(None) | {"auto_resume": None},
        ("checkpoint", "s3_uri"),
        "is required with tiered_checkpointing",
    ),
    Case(
        tiered(NO_INTERVAL),
        ("checkpoint", "s3_interval_steps"),
        "is required with tiered_checkpointing: .*keeps nothing when all",
    ),
    Case(
        WITH_CHECKPOINTLESS | {"checkpoint": NO_INTERVAL},
        ("checkpoint", "s3_interval_steps"),
        "is required with checkpointless: .*peers restore a process only while one of them lives",
    ),
    Case(
        tiered(DURABLE | {"s3_interval_steps": 0}), ("checkpoint", "s3_interval_steps"), "must be 1 or more"
    ),
    Case(
        tiered(DURABLE | {"s3_interval_steps": 120}),
        ("checkpoint", "s3_interval_steps"),
        "must be a multiple of .* 50, .*got 120; the nearest below is 100",
    ),
    Case(
        tiered(DURABLE | {"s3_interval_steps": 20}),
        ("checkpoint", "s3_interval_steps"),
        "got 20; the fewest are 50$",
    ),
    Case(
        tiered(memory_interval_steps=0),
        ("tiered_checkpointing", "memory_interval_steps"),
        "must be 1 or more",
    ),
    Case(
        tiered(memory_percentage=10),
        ("tiered_checkpointing", "memory_percentage"),
        "must be 20 to 100, got 10",
    ),
    Case(
        tiered(namespace="a b"),
        ("tiered_checkpointing", "namespace"),
        "letters, digits, hyphens and underscores",
    ),
]
LEGAL = [
    kept(path="/fsx"),
    kept(s3_uri="s3://bucket", s3_interval_steps=1),
    tiered(),
    tiered(namespace="Run_1"),
    tiered(DURABLE | {"s3_interval_steps": 50}),
    WITH_CHECKPOINTLESS,
]


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
