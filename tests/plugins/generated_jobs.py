"""Generates job specifications as documents: every field, legal and near-legal.

A document is first one whose fields go together, then up to three of its fields are changed.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from plain_jobs import (
    ELASTIC,
    HYPERPOD,
    HYPERPOD_ELASTIC,
    SPOTLESS,
    TIERED,
    WITH_CHECKPOINTLESS,
)

from hyperpod_model.catalog.instances import accelerated_instance_types, instance_types
from hyperpod_model.job_spec import JobSpec

Document = dict[str, Any]

_TEAM = {"team": "research", "priority_class": "training", "namespace": None}
_DURABLE = {"path": "/fsx/a", "s3_uri": "s3://bucket/a", "s3_interval_steps": 500}

BASES: dict[str, Document] = {
    "kubeflow": {},
    "kubeflow team": _TEAM,
    "master": {"rendezvous": "master"},
    "elastic": ELASTIC,
    "command": {"script": None, "command": ["python", "/workspace/train.py"]},
    "trainium": {"instance_type": "ml.trn1.32xlarge"},
    "no accelerator": {"instance_type": "ml.c5.4xlarge"},
    "part of a node": {"accelerators": 2, "nodes": 1},
    "partition": {"gpu_partition": "mig-1g.10gb", "accelerators": 1, "nodes": 1},
    "tiered": {"tiered_checkpointing": TIERED, "checkpoint": _DURABLE},
    "hyperpod": HYPERPOD,
    "hyperpod team": {"operator": "hyperpod", **_TEAM, "spares": 1},
    "hyperpod elastic": HYPERPOD_ELASTIC,
    "hyperpod values": HYPERPOD
    | {"nodes": None, "elastic": {"min_nodes": 2, "max_nodes": 8, "allowed_nodes": [2, 4, 8]}},
    "checkpointless": WITH_CHECKPOINTLESS,
}

# As text that YAML reads as something else unless it is quoted, and text that no name is.
_READ_AS_OTHER = ("on", "no", "null", "~", "1e3", "0o17", "12:30", "3.10", "-", "- a", "a: b", "#a", "'", '"')
_NO_NAMES = ("", "a b", " a", "a\n", "é", "\u2028", "\x7f", "x" * 64, "x" * 300, "$(HOME)", "$$(A)", "\\d+")
_SOME_NAMES = ("a", "A", "a_b", "a.b", "a/b", "/a", "/fsx", "/fsx/a", "${Token[TOKEN.42]}")
_TEXTS = st.sampled_from([*_READ_AS_OTHER, *_NO_NAMES, *_SOME_NAMES])
_NAMES = st.sampled_from(["llama", "a", "a" * 50, "a" * 53, "a" * 63, "Llama", "1a", "a-", "a.b", "a_b", ""])
_NUMBERS = st.sampled_from([-1, 0, 1, 2, 3, 7, 8, 60, 100, 101, 3600, 2**31 - 1, 2**31, 2**63])
_FLAGS = st.booleans()
_WORDS = st.lists(_TEXTS, max_size=3)
_LABELS = st.dictionaries(
    st.sampled_from(["team", "example.com/a", "a b", "", "x" * 64, "app.kubernetes.io/instance"])
    | st.sampled_from(["node.kubernetes.io/instance-type", "kueue.x-k8s.io/queue-name"]),
    _TEXTS,
    max_size=2,
)
_VARIABLES = st.dictionaries(
    st.sampled_from(["HF_HOME", "A", "1A", "A-B", "", "PET_NNODES", "RANK", "FI_PROVIDER", "NCCL_DEBUG"])
    | st.sampled_from(["FI_EFA_USE_DEVICE_RDMA", "HYPERPOD_SIGNAL_COORDINATION", "CHECKPOINT_PATH"]),
    _TEXTS | st.sampled_from(["efa", "tcp", "1", "0", "WARN", "distributed"]),
    max_size=3,
)


def _some(**members: SearchStrategy[Any]) -> SearchStrategy[Document]:
    return st.fixed_dictionaries({}, optional=members)


def _list_of(item: SearchStrategy[Any]) -> SearchStrategy[list[Any]]:
    return st.lists(item, max_size=2)


FIELDS: dict[str, SearchStrategy[Any]] = {
    "name": _NAMES,
    "operator": st.sampled_from(["kubeflow", "hyperpod", "Kubeflow"]),
    "namespace": _NAMES | st.sampled_from([None, "kubeflow", "hyperpod-a", "training"]),
    "team": _NAMES | st.none(),
    "priority_class": _NAMES | st.none(),
    "pod_priority_class": _TEXTS,
    "image": _TEXTS
    | st.sampled_from(["a.b/c:latest", "a.b/c", "c:1", "a.b/c@sha256:" + "0" * 64, "a.b/C:1", "a.b/c:1 "]),
    "instance_type": st.sampled_from([*accelerated_instance_types(), *sorted(instance_types()), "p5", ""]),
    "nodes": _NUMBERS | st.none(),
    "elastic": st.none()
    | _some(
        min_nodes=_NUMBERS,
        max_nodes=_NUMBERS,
        step_nodes=_NUMBERS,
        allowed_nodes=_list_of(_NUMBERS),
        scaling_timeout_seconds=_NUMBERS,
        graceful_shutdown_timeout_seconds=_NUMBERS,
        faulty_scale_down_timeout_seconds=_NUMBERS,
        scale_up_snooze_seconds=_NUMBERS,
    ),
    "spares": _NUMBERS,
    "capacity_type": st.sampled_from(["on-demand", "spot", "reserved"]),
    "script": _TEXTS | st.none(),
    "script_args": _WORDS,
    "command": _WORDS,
    "processes_per_node": _NUMBERS,
    "rendezvous": st.sampled_from(["c10d", "master", "etcd"]),
    "rendezvous_id": _TEXTS,
    "environment": _VARIABLES,
    "service_account": _TEXTS | _NAMES,
    "persistent_volume_claims": _list_of(
        _some(
            claim_name=_TEXTS | _NAMES,
            mount_path=_TEXTS | st.sampled_from(["/fsx", "/fsx/", "/dev/shm", "/data", "/a:b", "data", "/"]),
            read_only=_FLAGS,
        )
    ),
    "accelerators": _NUMBERS,
    "gpu_partition": st.sampled_from(["mig-1g.10gb", "mig-9g.1gb", "1g.10gb", ""]),
    "efa_interfaces": _NUMBERS,
    "huge_pages_mib": _NUMBERS,
    "vcpu": _NUMBERS,
    "memory_gib": _NUMBERS,
    "shared_memory_gib": _NUMBERS,
    "host_network": _FLAGS,
    "grace_period_seconds": _NUMBERS,
    "auto_resume": st.none()
    | _some(
        max_retries=_NUMBERS,
        evaluation_period_seconds=_NUMBERS,
        restarts_before_full_restart=_NUMBERS,
        max_full_restarts=_NUMBERS,
    ),
    "deep_health_checked": _FLAGS,
    "log_monitoring": _list_of(
        _some(
            name=_TEXTS,
            pattern=_TEXTS | st.just(r"step (\d+)"),
            starts_within_seconds=_NUMBERS,
            repeats_within_seconds=_NUMBERS,
            threshold=_NUMBERS,
            comparison=st.sampled_from(["gt", "lteq", ">"]),
            data_points=_NUMBERS,
            stop_pattern=_TEXTS,
            fault_on_match=_FLAGS,
        )
    ),
    "checkpoint": st.none()
    | _some(
        path=_TEXTS,
        s3_uri=_TEXTS | st.just("s3://bucket/a"),
        s3_interval_steps=_NUMBERS,
        save_seconds=_NUMBERS,
    ),
    "tiered_checkpointing": st.none()
    | _some(memory_interval_steps=_NUMBERS, memory_percentage=_NUMBERS, namespace=_TEXTS | _NAMES),
    "checkpointless": st.none()
    | _some(
        tier=_NUMBERS,
        framework=st.sampled_from(["Nemo", "PyTorch"]),
        data_format=st.sampled_from(["ARROW", "CSV"]),
        package_version=st.sampled_from(["1.0.1", "1.0", "latest"]),
        distributed_optimizer_instances=_NUMBERS,
    ),
    "operator_version": st.sampled_from(["1.2.0", "1.0.0", "v1", ""]),
    "elastic_agent_version": st.sampled_from(["1.1.3", "1.0.0", "x"]),
    "torch_version": st.sampled_from(["2.7.1", "2.12.0", "1.0", "x"]),
    "python_version": st.sampled_from(["3.12", "3.9", "x"]),
    "node_selector": _LABELS,
    "tolerations": _list_of(
        _some(
            key=_TEXTS | st.just("example.com/spot"),
            operator=st.sampled_from(["Exists", "Equal", "exists"]),
            value=_TEXTS,
            effect=st.sampled_from(["NoSchedule", "NoExecute", "Never"]),
            toleration_seconds=_NUMBERS,
        )
    ),
    "topology": st.none() | _some(layer=_NUMBERS, required=_FLAGS),
    "active_deadline_seconds": _NUMBERS,
    "ttl_seconds_after_finished": _NUMBERS,
    "clean_pod_policy": st.sampled_from(["None", "Running", "All", "OnlyComplete", "none"]),
    "labels": _LABELS,
}
assert FIELDS.keys() == JobSpec.model_fields.keys(), FIELDS.keys() ^ JobSpec.model_fields.keys()


@st.composite
def jobs(draw: DrawFn) -> Document:
    """Generate a job as a document."""
    document = SPOTLESS | BASES[draw(st.sampled_from(sorted(BASES)))]
    for name in draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=3, unique=True)):
        document[name] = draw(FIELDS[name])
    return {name: value for name, value in document.items() if value is not None or name == "auto_resume"}
