from __future__ import annotations

from plain_jobs import HYPERPOD, Case, table_tests

CASES = [
    Case({"name": "Llama"}, ("name",), "must be 1 to 63 lower-case letters"),
    Case({"name": "3d-model"}, ("name",), "beginning with a letter, got '3d-model'"),
    Case({"name": "a_b"}, ("name",), "got 'a_b'"),
    Case({"name": "a-"}, ("name",), "got 'a-'"),
    Case(
        {"name": "a" * 55},
        ("name",),
        "last pod would be 'a+-worker-1' with 64 characters, .* shorten it by 1",
    ),
    Case({"name": "a" * 54, "nodes": 11}, ("name",), "-worker-10' with 64 characters"),
    Case(
        HYPERPOD | {"name": "a" * 56, "nodes": 10, "team": "t", "namespace": None, "spares": 1},
        ("name",),
        "-pods-10' with 64",
    ),
    Case({"team": "Research"}, ("team",), "must be 1 to 40 lower-case"),
    Case({"team": "a" * 41}, ("team",), "must be 1 to 40"),
    Case(
        {"team": "research", "namespace": "kubeflow"},
        ("namespace",),
        "must be 'hyperpod-ns-research'.*leave it out",
    ),
    Case({"namespace": "hyperpod-ns-research"}, ("team",), "is required in namespace .*; give 'research'"),
    Case({"priority_class": "high"}, ("priority_class",), "needs team"),
    Case({"pod_priority_class": "A B"}, ("pod_priority_class",), "lower-case letters"),
    Case({"operator": "hyperpod"}, ("namespace",), "is required for operator 'hyperpod'; give it, or team"),
    Case(
        {"namespace": "default"}, ("namespace",), "must be 'kubeflow' or begin with 'hyperpod'.*got 'default'"
    ),
    Case({"namespace": "Kubeflow", "auto_resume": None}, ("namespace",), "must be 1 to 63 lower-case"),
    Case({"service_account": "default"}, ("service_account",), "must not be 'default'"),
    Case({"service_account": "Trainer"}, ("service_account",), "must be 1 to 253 lower-case"),
    Case({"labels": {"cost center": "a"}}, ("labels", "cost center"), "must have as key letters, digits"),
    Case({"labels": {"cost": "a b"}}, ("labels", "cost"), "must be 0 to 63 letters.*got 'a b'"),
    Case(
        {"labels": {"kueue.x-k8s.io/queue-name": "a"}},
        ("labels", "kueue.x-k8s.io/queue-name"),
        "is set from team",
    ),
    Case(
        {"labels": {"app.kubernetes.io/instance": "a"}},
        ("labels", "app.kubernetes.io/instance"),
        "is set for the pods of every job, to tell them from all others; leave it out",
    ),
    Case(
        {"labels": {"app.kubernetes.io/component": "a"}},
        ("labels", "app.kubernetes.io/component"),
        "is set for the pods of every job",
    ),
    Case(
        {"team": "hyperpod-ns-research"},
        ("team",),
        "is the team and not its namespace, so that the job goes to 'hyperpod-ns-hyperpod-ns-research', got "
        "'hyperpod-ns-research'; give 'research'",
        "warning",
    ),
    Case(
        {"team": "research", "priority_class": "high-priority"},
        ("priority_class",),
        "asks for 'high-priority-priority', got 'high-priority'; give 'high'",
        "warning",
    ),
]
LEGAL = [
    {},
    {"name": "a" * 54},
    {"name": "a" * 53, "nodes": 100},
    {"namespace": "kubeflow"},
    {"namespace": "hyperpod"},
    {"namespace": "hyperpod-finetune"},
    {"namespace": "default", "auto_resume": None},
    {"team": "research"},
    {"team": "research", "namespace": "hyperpod-ns-research", "priority_class": "high"},
    {"labels": {"example.com/cost": "a.b_c-1", "empty": "", "app.kubernetes.io/name": "llama"}},
    {"team": "hyperpod", "priority_class": "priority"},
    HYPERPOD,
    {"operator": "hyperpod", "team": "research"},
    {"service_account": None},
    {"pod_priority_class": "system-high"},
]


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
