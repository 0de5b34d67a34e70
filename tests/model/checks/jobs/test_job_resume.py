from __future__ import annotations

from plain_jobs import HYPERPOD, Case, table_tests

SLOW = {"checkpoint": {"path": "/fsx/a", "save_seconds": 90}}

CASES = [
    Case({"checkpoint": None}, ("checkpoint",), "each restart may begin at step 0", "warning"),
    Case({"grace_period_seconds": 0}, ("grace_period_seconds",), "must be 1 second or more, got 0"),
    Case(
        SLOW | {"grace_period_seconds": 99},
        ("grace_period_seconds",),
        "must be 100 or more.*got 99: the pod is killed while it saves",
    ),
    Case(
        SLOW,
        ("torch_version",),
        "is not given, and torchrun before 2.12 kills its processes 30 seconds after SIGTERM",
        "warning",
    ),
    Case(
        SLOW | {"torch_version": "2.7.1"},
        ("torch_version",),
        "is '2.7.1', whose torchrun kills.*a save takes 90",
    ),
    Case({"auto_resume": {"max_retries": 0}}, ("auto_resume", "max_retries"), "must be 1 or more"),
    Case(
        {"auto_resume": {"evaluation_period_seconds": 0}},
        ("auto_resume", "evaluation_period_seconds"),
        "1 or more",
    ),
    Case({"auto_resume": {"max_full_restarts": -1}}, ("auto_resume", "max_full_restarts"), "0 or more"),
    Case({"active_deadline_seconds": 0}, ("active_deadline_seconds",), "must be 1 second or more"),
    Case({"ttl_seconds_after_finished": -1}, ("ttl_seconds_after_finished",), "must be 0 or more"),
    Case(
        {"ttl_seconds_after_finished": 0},
        ("ttl_seconds_after_finished",),
        "deletes the job with its log",
        "warning",
    ),
    Case(
        {"clean_pod_policy": "OnlyComplete"},
        ("clean_pod_policy",),
        "one of 'All', 'Running', 'None' for operator 'kubeflow'",
    ),
    Case(
        HYPERPOD | {"clean_pod_policy": "Running"},
        ("clean_pod_policy",),
        "one of 'All', 'OnlyComplete', 'None'",
    ),
]
LEGAL = [
    {"checkpoint": None, "auto_resume": None},
    {"checkpoint": {"path": "/fsx/a", "save_seconds": 30}, "grace_period_seconds": 40},
    SLOW | {"torch_version": "2.12.0"},
    SLOW | {"torch_version": "2.13.0+cpu"},
    SLOW | HYPERPOD,
    SLOW | HYPERPOD | {"torch_version": "2.7.1"},
    {"clean_pod_policy": "Running"},
    HYPERPOD | {"clean_pod_policy": "OnlyComplete"},
    {"active_deadline_seconds": 3600, "ttl_seconds_after_finished": 60},
]


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
