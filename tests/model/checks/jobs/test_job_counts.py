from __future__ import annotations

from typing import Any

from plain_jobs import ELASTIC, HYPERPOD, HYPERPOD_ELASTIC, Case, table_tests


def elastic(**values: Any) -> dict[str, Any]:
    return ELASTIC | {"elastic": ELASTIC["elastic"] | values}


def hyperpod_elastic(**values: Any) -> dict[str, Any]:
    return HYPERPOD_ELASTIC | {"elastic": HYPERPOD_ELASTIC["elastic"] | values}


CASES = [
    Case({"nodes": None}, ("nodes",), "is required: the number of nodes, or elastic"),
    Case({"nodes": 0}, ("nodes",), "must be 1 or more, got 0"),
    Case(ELASTIC | {"nodes": 4}, ("elastic",), "excludes nodes"),
    Case(elastic(min_nodes=0), ("elastic", "min_nodes"), "must be 1 or more"),
    Case(elastic(max_nodes=1), ("elastic", "max_nodes"), "must be min_nodes or more, 2, got 1"),
    Case(elastic(max_nodes=2), ("elastic", "max_nodes"), "the job never changes; give nodes: 2", "warning"),
    Case(elastic(step_nodes=2), ("elastic", "step_nodes"), "is for operator 'hyperpod'; torchrun takes any"),
    Case(elastic(allowed_nodes=[2, 4]), ("elastic", "allowed_nodes"), "is for operator 'hyperpod'"),
    Case(elastic(scaling_timeout_seconds=60), ("elastic", "scaling_timeout_seconds"), "is for operator"),
    Case(hyperpod_elastic(step_nodes=None), ("elastic", "step_nodes"), "is required, or allowed_nodes"),
    Case(hyperpod_elastic(allowed_nodes=[2, 4]), ("elastic", "allowed_nodes"), "excludes step_nodes"),
    Case(hyperpod_elastic(step_nodes=0), ("elastic", "step_nodes"), "must be 1 or more"),
    Case(
        hyperpod_elastic(step_nodes=4),
        ("elastic", "step_nodes"),
        "leads from 2 to 6, never to max_nodes, 8",
        "warning",
    ),
    Case(
        hyperpod_elastic(step_nodes=None, allowed_nodes=[2, 16]),
        ("elastic", "allowed_nodes", 1),
        "must be 2 to 8, .*got 16",
    ),
    Case(
        hyperpod_elastic(step_nodes=None, allowed_nodes=[4, 2]),
        ("elastic", "allowed_nodes", 1),
        "must be more than the one before, got 2",
    ),
    Case(
        hyperpod_elastic(scale_up_snooze_seconds=-1),
        ("elastic", "scale_up_snooze_seconds"),
        "must be 0 or more",
    ),
    Case(ELASTIC | {"rendezvous": "master"}, ("rendezvous",), "'master' fixes the number of nodes"),
    Case(HYPERPOD | {"rendezvous": "master"}, ("rendezvous",), "'master' is for operator 'kubeflow'"),
    Case({"spares": 1}, ("spares",), "are for operator 'hyperpod'"),
    Case(HYPERPOD | {"spares": 1}, ("spares",), "need team"),
    Case({"spares": -1}, ("spares",), "must be 0 or more"),
    Case({"processes_per_node": 0}, ("processes_per_node",), "must be 1 or more"),
    Case({"processes_per_node": 9}, ("processes_per_node",), "must be at most 8, one for each of the GPUs"),
    Case(
        {"processes_per_node": 4}, ("processes_per_node",), "leaves 4 of the 8 GPUs of a pod idle", "warning"
    ),
    Case({"accelerators": 4, "processes_per_node": 8}, ("processes_per_node",), "must be at most 4"),
    Case(
        {"instance_type": "ml.trn1.32xlarge", "processes_per_node": 33},
        ("processes_per_node",),
        "at most 32, .*logical Neuron cores",
    ),
]
LEGAL = [
    ELASTIC,
    HYPERPOD_ELASTIC,
    hyperpod_elastic(step_nodes=None, allowed_nodes=[2, 4, 8]),
    hyperpod_elastic(step_nodes=3, scaling_timeout_seconds=60, scale_up_snooze_seconds=0),
    {"nodes": 1},
    {"rendezvous": "master"},
    HYPERPOD | {"namespace": None, "team": "research", "spares": 2},
    {"processes_per_node": 8},
    {"instance_type": "ml.trn1.32xlarge", "processes_per_node": 8},
    {"instance_type": "ml.trn2.48xlarge", "processes_per_node": 64},
    {"instance_type": "ml.c5.4xlarge", "processes_per_node": 4},
]


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
