"""Jobs against clusters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from plain_jobs import (
    DURABLE,
    ELASTIC,
    HYPERPOD,
    HYPERPOD_ELASTIC,
    SPOTLESS,
    TIERED,
    WITH_CHECKPOINTLESS,
    plain_job,
)

from hyperpod_model.checks.jobs.on_cluster import ClusterSide, Queues, check_on_cluster
from hyperpod_model.cluster_spec import ClusterSpec
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath
from hyperpod_model.job_spec import JobSpec, NodeSetup, check_job_on_cluster, node_setup_on
from hyperpod_model.sharing_plan import TeamShare, sharing_plan

ROOT = Path(__file__).parents[3]
EXAMPLE: dict[str, Any] = yaml.safe_load((ROOT / "examples/clusters/llm-train-eks.yaml").read_text("utf-8"))
WORKERS, SYSTEM = EXAMPLE["instance_groups"]
FITTING = SPOTLESS | {"namespace": "kubeflow"}
IS_TIERED = {"tiered_checkpointing": TIERED, "checkpoint": DURABLE}


def cluster(**changes: Any) -> ClusterSpec:
    """The example for EKS, without tiered checkpoints unless they are asked for."""
    return ClusterSpec.model_validate(EXAMPLE | {"tiered_checkpointing": None} | changes)


def workers(**changes: Any) -> dict[str, Any]:
    return {"instance_groups": [WORKERS | changes, SYSTEM]}


def found(job: dict[str, Any], there: dict[str, Any]) -> list[Fault]:
    return check_job_on_cluster(JobSpec.model_validate(FITTING | job), cluster(**there))


TIERED_CLUSTER = {"tiered_checkpointing": EXAMPLE["tiered_checkpointing"]}
SPOT = workers(capacity_type="spot")
NO_CHECKS = workers(deep_health_checks=[])
DIVIDED = workers(kubernetes_labels={"nvidia.com/mig.config": "mig-1g.10gb"})
TAINTED = workers(
    deep_health_checks=[], kubernetes_taints=[{"key": "team", "value": "a", "effect": "NoSchedule"}]
)
ONE_PARTITION = {"gpu_partition": "mig-1g.10gb", "accelerators": 1, "nodes": 1}
QUEUED = HYPERPOD | {"namespace": None, "team": "a"}
TRAIN_A = {"training_pods": {"namespace": "hyperpod-ns-a", "service_account": "trainer"}}
P5 = "ml.p5.48xlarge"


def shared(*teams: dict[str, Any], **said: Any) -> dict[str, Any]:
    return TRAIN_A | {"task_governance": {"teams": list(teams)} | said}


SHARED = shared(
    {"team": "a", "instances": {P5: 8}},
    {"team": "b", "instances": {P5: 7}},
    priority_classes={"training": 50},
)
SYSTEM_ONLY = shared({"team": "a", "instances": {"ml.m5.2xlarge": 2}})
NOT_BORROWING = shared({"team": "a", "instances": {P5: 8}, "strategy": "DontLend"})

CASES: list[tuple[dict[str, Any], dict[str, Any], FaultPath, str, str]] = [
    (
        {"instance_type": "ml.p4d.24xlarge"},
        {},
        ("instance_type",),
        "error",
        "is in no group of the cluster, .*it has 'ml.p5.48xlarge'",
    ),
    ({"nodes": 17}, {}, ("nodes",), "error", "must be at most 16, the room in 'workers', got 17"),
    ({"nodes": 16}, {}, ("nodes",), "warning", "takes all 16 of 'workers', .*leave one free"),
    ({"nodes": 33, "accelerators": 4}, {}, ("nodes",), "error", "must be at most 32"),
    (
        ELASTIC | {"elastic": {"min_nodes": 17, "max_nodes": 20}},
        {},
        ("elastic", "min_nodes"),
        "error",
        "at most 16",
    ),
    (
        ELASTIC | {"elastic": {"min_nodes": 2, "max_nodes": 20}},
        {},
        ("elastic", "max_nodes"),
        "warning",
        "is more than 16, .*never reached",
    ),
    (
        QUEUED | {"nodes": 15, "spares": 2},
        TRAIN_A,
        ("spares",),
        "error",
        "at most 16 together, .*got 2 and 15",
    ),
    ({"deep_health_checked": True}, NO_CHECKS, ("deep_health_checked",), "error", "group 'workers' has none"),
    ({"vcpu": 90}, {}, ("vcpu",), "error", "at most 89 on group 'workers' with threads_per_core 1, got 90"),
    (
        {"memory_gib": 1471},
        TIERED_CLUSTER,
        ("memory_gib",),
        "error",
        "at most 1470 on group 'workers', where tiered checkpointing takes 20",
    ),
    ({}, TIERED_CLUSTER, ("memory_gib",), "warning", "the cluster leaves 1470 GiB; render with it"),
    (
        {},
        TIERED_CLUSTER,
        ("tiered_checkpointing",),
        "warning",
        "keeps 20 percent of the memory, and this job does not write through it; .*acknowledge this warning",
    ),
    (IS_TIERED, {}, ("tiered_checkpointing",), "warning", "is off in the cluster"),
    (
        IS_TIERED | {"tiered_checkpointing": TIERED | {"memory_percentage": 30}},
        TIERED_CLUSTER,
        ("tiered_checkpointing", "memory_percentage"),
        "error",
        "must be 20, as in the cluster",
    ),
    (
        IS_TIERED | {"checkpoint": DURABLE | {"s3_interval_steps": 1000}},
        TIERED_CLUSTER,
        ("checkpoint", "s3_interval_steps"),
        "warning",
        "is 1000, and the cluster plans 500: .*keep 500",
    ),
    ({"capacity_type": "spot"}, {}, ("capacity_type",), "warning", "is not that of 'workers'"),
    ({}, SPOT, ("capacity_type",), "warning", "is 'spot' in 'workers'"),
    (HYPERPOD_ELASTIC, SPOT, ("capacity_type",), "error", "does not go with elastic training"),
    (
        {"namespace": "hyperpod-a"},
        {},
        ("namespace",),
        "warning",
        "must be 'kubeflow', whose training_pods have the training role",
    ),
    (
        {"namespace": "hyperpod-a", "checkpoint": DURABLE},
        {},
        ("namespace",),
        "error",
        "which checkpoint.s3_uri needs, got 'hyperpod-a'",
    ),
    (
        {"service_account": "other", "checkpoint": DURABLE},
        {},
        ("service_account",),
        "error",
        "must be 'trainer', .*got 'other'",
    ),
    ({"service_account": None}, {}, ("service_account",), "warning", "must be 'trainer', .*got none"),
    (
        {"checkpoint": DURABLE},
        {"training_pods": None},
        ("service_account",),
        "warning",
        "names no training_pods",
    ),
    (
        ONE_PARTITION,
        {},
        ("gpu_partition",),
        "error",
        "group 'workers' has not the label nvidia.com/mig.config",
    ),
    ({}, DIVIDED, ("gpu_partition",), "error", "is required on group 'workers', whose GPUs are divided"),
    (
        ONE_PARTITION | {"gpu_partition": "mig-7g.80gb"},
        DIVIDED,
        ("gpu_partition",),
        "error",
        "has not the label",
    ),
    (
        {"node_selector": {"team": "b"}},
        workers(kubernetes_labels={"team": "a"}),
        ("node_selector", "team"),
        "error",
        "is 'b', and group 'workers' has 'a'",
    ),
    ({}, TAINTED, ("tolerations",), "error", "lack one for taint 'team' of group 'workers'; add {key: team}"),
    (
        {"tolerations": [{"key": "team", "operator": "Equal", "value": "b"}]},
        TAINTED,
        ("tolerations",),
        "error",
        "lack one",
    ),
    (
        QUEUED | {"team": "c"},
        SHARED,
        ("team",),
        "error",
        "has no quota in the cluster, .*never starts, got 'c'; give one of 'a', 'b', or name it",
    ),
    (
        QUEUED | {"priority_class": "urgent"},
        SHARED,
        ("priority_class",),
        "error",
        "is no priority class of the cluster, whose classes are 'training'; .*got 'urgent'",
    ),
    (
        QUEUED | {"priority_class": "urgent"},
        NOT_BORROWING,
        ("priority_class",),
        "error",
        "is no priority class of the cluster, which has none; leave it out",
    ),
    ({}, SHARED, ("team",), "warning", "takes nodes past the queues .*give one of 'a', 'b', or acknowledge"),
    (
        QUEUED,
        SYSTEM_ONLY,
        ("instance_type",),
        "error",
        "is in no quota of team 'a', which has 'ml.m5.2xlarge', .*got 'ml.p5.48xlarge'",
    ),
    (
        QUEUED | {"nodes": 13},
        SHARED,
        ("nodes",),
        "warning",
        "is more than the 8 instances of team 'a' and the 4 that it may borrow hold, .*got 13",
    ),
    (
        QUEUED | {"nodes": 12, "spares": 1},
        SHARED,
        ("nodes",),
        "warning",
        "may borrow hold with 1 spares, so that the job waits for ever, got 12",
    ),
    (
        QUEUED | {"nodes": 25, "accelerators": 4},
        SHARED,
        ("nodes",),
        "warning",
        "that it may borrow, 24 of these pods, hold, .*got 25",
    ),
    (
        QUEUED | {"nodes": 9},
        NOT_BORROWING,
        ("nodes",),
        "warning",
        "is more than the 8 instances of team 'a' and the 0 that it may borrow hold",
    ),
    (
        QUEUED | ELASTIC | {"elastic": {"min_nodes": 13, "max_nodes": 14, "step_nodes": 1}},
        SHARED,
        ("elastic", "min_nodes"),
        "warning",
        "waits for ever, got 13",
    ),
    (
        QUEUED | ELASTIC | {"elastic": {"min_nodes": 2, "max_nodes": 14, "step_nodes": 1}},
        SHARED,
        ("elastic", "max_nodes"),
        "warning",
        "so that it is never reached, got 14",
    ),
]

LEGAL: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"nodes": 15}, {}),
    ({"nodes": 16, "auto_resume": None}, {}),
    ({"nodes": 28, "accelerators": 4}, {}),
    ({"deep_health_checked": True}, {}),
    ({"vcpu": 89}, {}),
    ({"vcpu": 179}, workers(threads_per_core=None)),
    ({"checkpoint": DURABLE}, {}),
    (IS_TIERED, TIERED_CLUSTER),
    (QUEUED | {"nodes": 14, "spares": 2}, TRAIN_A),
    (ELASTIC, {}),
    (ELASTIC | {"elastic": {"min_nodes": 2, "max_nodes": 16}}, {}),
    (ONE_PARTITION, DIVIDED),
    ({"node_selector": {"team": "a", "zone": "b"}}, workers(kubernetes_labels={"team": "a"})),
    ({"tolerations": [{"key": "team"}]}, TAINTED),
    ({"tolerations": [{"key": "team", "operator": "Equal", "value": "a"}]}, TAINTED),
    ({"capacity_type": "spot"}, SPOT),
    ({"checkpoint": DURABLE | {"s3_interval_steps": 1000}}, {}),
    (QUEUED, TRAIN_A),
    (QUEUED | {"priority_class": "training", "nodes": 8}, SHARED),
    (QUEUED | {"nodes": 12}, SHARED),
    (QUEUED | {"nodes": 11, "spares": 1}, SHARED),
    (QUEUED | {"nodes": 24, "accelerators": 4}, SHARED),
    (QUEUED | {"nodes": 8}, NOT_BORROWING),
    (QUEUED | ELASTIC | {"elastic": {"min_nodes": 2, "max_nodes": 12, "step_nodes": 1}}, SHARED),
]


@pytest.mark.parametrize(("job", "there", "path", "severity", "message"), CASES, ids=str)
def test_is_found(
    job: dict[str, Any], there: dict[str, Any], path: FaultPath, severity: str, message: str
) -> None:
    faults = found(job, there)
    assert any(
        fault.path == path and fault.severity == severity and re.search(message, fault.message)
        for fault in faults
    ), [(fault.severity, str(fault)) for fault in faults]


@pytest.mark.parametrize(("job", "there"), LEGAL, ids=str)
def test_says_nothing(job: dict[str, Any], there: dict[str, Any]) -> None:
    assert [str(fault) for fault in found(job, there)] == []


def test_a_slurm_cluster_takes_batch_scripts() -> None:
    example = yaml.safe_load((ROOT / "examples/clusters/llm-train.yaml").read_text("utf-8"))
    [fault] = check_job_on_cluster(JobSpec.model_validate(SPOTLESS), ClusterSpec.model_validate(example))
    assert fault.path == ()
    assert fault.message.endswith(
        "the cluster runs Slurm; send a batch script to partition 'train' with sbatch: "
        "hyperpod-jobs render --slurm writes one"
    )


def test_checkpointless_keeps_the_durable_interval_of_the_cluster() -> None:
    planned = {
        "operator_version": "1.2.0",
        "framework": "Nemo",
        "data_format": "ARROW",
        "image_uri": SPOTLESS["image"],
        "durable_interval_steps": 400,
        "package_version": "1.0.1",
    }
    there = {
        "checkpointless": planned,
        "training_pods": {"namespace": "training", "service_account": "trainer"},
    }
    [fault] = found(WITH_CHECKPOINTLESS, there)
    assert fault.severity == "warning"
    assert "is 500, and the cluster plans 400: peers and memory recover single nodes" in fault.message


def test_karpenter_may_bring_nodes() -> None:
    request = cluster().to_request() | {"AutoScaling": {"Mode": "Enable"}}
    [fault] = check_on_cluster(
        plain_job(nodes=17), request, ClusterSide(training_pods=("kubeflow", "trainer"))
    )
    assert (fault.severity, fault.path) == ("warning", ("nodes",))
    assert "unless Karpenter adds some" in fault.message


def test_one_group_that_fits_is_enough() -> None:
    plain = WORKERS | {"name": "plain", "deep_health_checks": []}
    there = {"instance_groups": [plain, WORKERS | {"instance_count": 4}, SYSTEM]}
    [fault] = found({"deep_health_checked": True, "nodes": 5}, there)
    assert fault.message.startswith("must be at most 4, the room in 'workers'")
    assert found({"nodes": 19}, there) == []


@pytest.mark.parametrize("field", JobSpec.model_fields)
def test_any_field_of_the_job_may_be_known_only_later(field: str) -> None:
    side = ClusterSide(training_pods=("kubeflow", "trainer"), durable_interval_steps=500)
    faults = check_on_cluster(plain_job(**{field: UNKNOWN}), cluster(**TIERED_CLUSTER).to_request(), side)
    assert [fault for fault in faults if fault.path[:1] == (field,)] == []


@pytest.mark.parametrize("field", ["team", "priority_class", "instance_type", "nodes", "spares"])
def test_queues_know_only_later_what_a_job_asks_for(field: str) -> None:
    (planned,) = sharing_plan(
        [TeamShare(team="a", instance_type=P5, promised=1)], capacity={P5: 16}, idle_resource_sharing=True
    )
    side = ClusterSide(
        training_pods=("hyperpod-ns-a", "trainer"),
        queues=Queues(teams=("a",), shares=(planned,), priority_classes=()),
    )
    values = {"team": "a", "namespace": "hyperpod-ns-a", "nodes": 1} | {field: UNKNOWN}
    assert check_on_cluster(plain_job(**values), cluster(**TRAIN_A).to_request(), side) == []


@pytest.mark.parametrize("member", ["InstanceGroups", "Orchestrator", "TieredStorageConfig", "AutoScaling"])
def test_what_of_the_cluster_is_known_only_later_passes(member: str) -> None:
    request = cluster().to_request() | {member: UNKNOWN}
    side = ClusterSide(training_pods=("kubeflow", "trainer"))
    assert check_on_cluster(plain_job(), request, side) == []


@pytest.mark.parametrize(
    "member",
    [
        "InstanceType",
        "InstanceCount",
        "OnStartDeepHealthChecks",
        "KubernetesConfig",
        "CapacityRequirements",
        "ThreadsPerCore",
    ],
)
def test_what_of_a_group_is_known_only_later_passes(member: str) -> None:
    request = cluster().to_request()
    groups = [group | {member: UNKNOWN} for group in request["InstanceGroups"]]
    side = ClusterSide(training_pods=("kubeflow", "trainer"))
    job = plain_job(deep_health_checked=True, vcpu=80)
    assert check_on_cluster(job, request | {"InstanceGroups": groups}, side) == []


@pytest.mark.parametrize(
    ("there", "setup"),
    [
        ({}, NodeSetup(threads_per_core=1, tiered_memory_percentage=0)),
        (TIERED_CLUSTER, NodeSetup(threads_per_core=1, tiered_memory_percentage=20)),
        (workers(threads_per_core=None), NodeSetup(threads_per_core=2, tiered_memory_percentage=0)),
        (workers(instance_type="ml.p4d.24xlarge"), NodeSetup(tiered_memory_percentage=0)),
        (
            {"tiered_checkpointing": {"enabled": False}},
            NodeSetup(threads_per_core=1, tiered_memory_percentage=0),
        ),
    ],
    ids=str,
)
def test_node_setup(there: dict[str, Any], setup: NodeSetup) -> None:
    assert node_setup_on(cluster(**there), "ml.p5.48xlarge") == setup
