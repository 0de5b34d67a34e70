from __future__ import annotations

from typing import Any

from plain_jobs import CHECKPOINTLESS, DURABLE, TIERED, WITH_CHECKPOINTLESS, Case, table_tests


def checkpointless(**changes: Any) -> dict[str, Any]:
    return WITH_CHECKPOINTLESS | {"checkpointless": CHECKPOINTLESS | changes}


CASES = [
    Case(
        {"checkpointless": CHECKPOINTLESS, "checkpoint": DURABLE},
        ("checkpointless",),
        "is for operator 'hyperpod'",
    ),
    Case(
        WITH_CHECKPOINTLESS | {"nodes": 1},
        ("checkpointless",),
        "needs 2 accelerated nodes or more, got 1: .*raise nodes",
    ),
    Case(
        WITH_CHECKPOINTLESS | {"operator_version": None}, ("operator_version",), "is required, 1.2.0 or later"
    ),
    Case(
        WITH_CHECKPOINTLESS | {"operator_version": "1.1.9"}, ("operator_version",), "must be 1.2.0 or later"
    ),
    Case(
        WITH_CHECKPOINTLESS | {"python_version": None},
        ("python_version",),
        "is required for checkpointless, 3.12",
    ),
    Case(WITH_CHECKPOINTLESS | {"python_version": "3.11"}, ("python_version",), "must be 3.12 or later"),
    Case(
        checkpointless(package_version="1.0.0"),
        ("checkpointless", "package_version"),
        "must be 1.0.1 or later: .*wrong CUDA device",
    ),
    Case(checkpointless(framework="Keras"), ("checkpointless", "framework"), "must be one of 'Nemo'"),
    Case(checkpointless(data_format="arrow"), ("checkpointless", "data_format"), "did you mean 'ARROW'"),
    Case(checkpointless(tier=5), ("checkpointless", "tier"), "must be one of 1 \\(rootless"),
    Case(
        checkpointless(tier=4),
        ("checkpointless", "distributed_optimizer_instances"),
        "is required from tier 4 on",
    ),
    Case(
        checkpointless(tier=4, distributed_optimizer_instances=1),
        ("checkpointless", "distributed_optimizer_instances"),
        "must be 2 or more",
    ),
    Case(
        WITH_CHECKPOINTLESS | {"instance_type": "ml.p4d.24xlarge"},
        ("checkpointless",),
        "is recommended on ml.p5 and ml.p6 types",
        "warning",
    ),
    Case(
        WITH_CHECKPOINTLESS | {"instance_type": "ml.trn1.32xlarge"},
        ("checkpointless",),
        "it needs GPUs, and ml.trn1.32xlarge has none",
    ),
    Case(WITH_CHECKPOINTLESS | {"accelerators": 4}, ("accelerators",), "ports of the host are taken"),
    Case(
        WITH_CHECKPOINTLESS | {"tiered_checkpointing": TIERED},
        ("checkpointless",),
        "complements managed tiered checkpointing.*try both together",
        "warning",
    ),
]
LEGAL = [
    WITH_CHECKPOINTLESS,
    WITH_CHECKPOINTLESS | {"operator_version": "v1.3.0-eksbuild.1", "python_version": "3.13"},
    checkpointless(tier=1),
    checkpointless(tier=4, distributed_optimizer_instances=2),
    WITH_CHECKPOINTLESS | {"instance_type": "ml.p6-b200.48xlarge"},
]


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
