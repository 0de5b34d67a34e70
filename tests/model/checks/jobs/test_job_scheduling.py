from __future__ import annotations

from typing import Any

from plain_jobs import Case, table_tests

HEALTH = "sagemaker.amazonaws.com/node-health-status"
DEEP = "sagemaker.amazonaws.com/deep-health-check-status"
WHERE = ("tolerations", 0)


def tolerates(**values: Any) -> dict[str, Any]:
    return {"tolerations": [{"key": "team", "operator": "Exists"} | values]}


def selects(**labels: str) -> dict[str, Any]:
    return {"node_selector": labels}


CASES = [
    Case(selects(**{HEALTH: "Schedulable"}), ("node_selector", HEALTH), "is set for every job"),
    Case(selects(**{DEEP: "Passed"}), ("node_selector", DEEP), "is set from deep_health_checked"),
    Case(
        selects(**{"beta.kubernetes.io/instance-type": "ml.p5.48xlarge"}),
        ("node_selector", "beta.kubernetes.io/instance-type"),
        "is set from instance_type",
    ),
    Case(
        selects(**{"sagemaker.amazonaws.com/compute-type": "hyperpod"}),
        ("node_selector", "sagemaker.amazonaws.com/compute-type"),
        "may match no node: .*case-sensitive",
        "warning",
    ),
    Case(selects(**{"a b": "c"}), ("node_selector", "a b"), "must have as key"),
    Case(tolerates(key=HEALTH), (*WHERE, "key"), "keeps pods off nodes that are faulty"),
    Case(tolerates(key="a b"), (*WHERE, "key"), "must be letters"),
    Case(tolerates(value="x"), (*WHERE, "value"), "goes with operator 'Equal'"),
    Case(tolerates(operator="Equal"), (*WHERE, "value"), "is required with operator 'Equal'"),
    Case(tolerates(operator="Equal", value="a b"), (*WHERE, "value"), "got 'a b'"),
    Case(tolerates(toleration_seconds=5), (*WHERE, "toleration_seconds"), "goes with effect 'NoExecute'"),
    Case(
        tolerates(toleration_seconds=-5, effect="NoExecute"),
        (*WHERE, "toleration_seconds"),
        "must be 0 or more",
    ),
    Case({"tolerations": [{"key": "a"}, {"key": "a"}]}, ("tolerations", 1), "is given twice"),
]
LEGAL = [
    selects(**{"sagemaker.amazonaws.com/instance-group-name": "workers", "team": "a"}),
    tolerates(),
    tolerates(operator="Equal", value="a", effect="NoSchedule"),
    tolerates(effect="NoExecute", toleration_seconds=0),
    {"tolerations": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}]},
    {"topology": {"layer": 3, "required": True}},
    {"deep_health_checked": True},
]


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
