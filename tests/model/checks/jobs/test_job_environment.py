from __future__ import annotations

from typing import Any

from plain_jobs import HYPERPOD_ELASTIC, WITH_CHECKPOINTLESS, Case, table_tests


def variables(**environment: str) -> dict[str, Any]:
    return {"environment": environment}


NO_EFA = {"instance_type": "ml.g5.xlarge"}
NO_RDMA = {"instance_type": "ml.g5.12xlarge"}

CASES = [
    Case(
        {"environment": {"1A": "x"}},
        ("environment", "1A"),
        "must have as name letters, digits and underscores",
    ),
    Case(
        variables(FI_PROVIDER="efa") | NO_EFA,
        ("environment", "FI_PROVIDER"),
        "no process finds a network on ml.g5.xlarge",
    ),
    Case(
        variables(FI_PROVIDER="efa") | {"efa_interfaces": 0},
        ("environment", "FI_PROVIDER"),
        "the pods ask for no EFA interface",
    ),
    Case(
        variables(FI_PROVIDER="efa") | {"gpu_partition": "mig-1g.10gb", "accelerators": 1, "nodes": 1},
        ("environment", "FI_PROVIDER"),
        "no EFA interface",
    ),
    Case(
        variables(FI_PROVIDER="tcp"),
        ("environment", "FI_PROVIDER"),
        "keeps the 32 EFA interfaces .*idle, got 'tcp'",
        "warning",
    ),
    Case(
        variables(FI_EFA_USE_DEVICE_RDMA="1") | NO_RDMA,
        ("environment", "FI_EFA_USE_DEVICE_RDMA"),
        "aborts every process on ml.g5.12xlarge",
    ),
    Case(variables(RDMAV_FORK_SAFE="1"), ("environment", "RDMAV_FORK_SAFE"), "leave it out", "warning"),
    Case(variables(PET_TEE="all"), ("environment", "PET_TEE"), "must be 0 to 3 .* at once, got 'all'"),
    Case(variables(PET_REDIRECTS="0:4"), ("environment", "PET_REDIRECTS"), "got '0:4'"),
    Case(variables(PET_NNODES="2"), ("environment", "PET_NNODES"), "is set by the operator"),
    Case(variables(MASTER_ADDR="10.0.0.1"), ("environment", "MASTER_ADDR"), "is set by the launcher"),
    Case(variables(WORLD_SIZE="16"), ("environment", "WORLD_SIZE"), "is set by the launcher"),
    Case(
        variables(NCCL_DEBUG="DEBUG"),
        ("environment", "NCCL_DEBUG"),
        "must be one of VERSION, WARN, INFO, TRACE",
    ),
    Case(
        HYPERPOD_ELASTIC | variables(HYPERPOD_SIGNAL_COORDINATION="disabled"),
        ("environment", "HYPERPOD_SIGNAL_COORDINATION"),
        "must be 'distributed' for an elastic job",
    ),
    Case(
        WITH_CHECKPOINTLESS | variables(HPCT_USE_ROOTLESS="0"),
        ("environment", "HPCT_USE_ROOTLESS"),
        "must be '1' for checkpointless",
    ),
]
LEGAL = [
    variables(FI_PROVIDER="efa", FI_EFA_USE_DEVICE_RDMA="1", NCCL_DEBUG="warn"),
    variables(FI_PROVIDER="efa") | NO_RDMA,
    variables(FI_EFA_USE_DEVICE_RDMA="0") | NO_RDMA,
    variables(FI_PROVIDER="tcp") | NO_EFA,
    variables(FI_EFA_USE_DEVICE_RDMA="1") | NO_EFA,
    variables(HYPERPOD_SIGNAL_COORDINATION="disabled"),
    HYPERPOD_ELASTIC | variables(HYPERPOD_SIGNAL_COORDINATION="distributed"),
    variables(HF_HOME="/fsx/hf", _A1="x"),
]


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
