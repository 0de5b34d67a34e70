from __future__ import annotations

from plain_jobs import HYPERPOD, HYPERPOD_ELASTIC, Case, table_tests

CASES = [
    Case({"torch_version": "two"}, ("torch_version",), "must be a version such as '1.2.0', got 'two'"),
    Case({"python_version": "3"}, ("python_version",), "must be a version"),
    Case(
        HYPERPOD | {"torch_version": "2.3.1"},
        ("torch_version",),
        "must be 2.4 or later and before 2.12 for hyperpod-elastic-agent",
    ),
    Case(HYPERPOD | {"torch_version": "2.12.0"}, ("torch_version",), "before 2.12 .*or operator 'kubeflow'"),
    Case(
        HYPERPOD | {"torch_version": "2.8.0"},
        ("torch_version",),
        "documentation ends at 2.7.1, got '2.8.0'",
        "warning",
    ),
    Case(
        HYPERPOD_ELASTIC | {"operator_version": "1.1.0"},
        ("operator_version",),
        "must be 1.2.0 or later for elastic",
    ),
    Case(
        HYPERPOD_ELASTIC | {"elastic_agent_version": "1.0.0"},
        ("elastic_agent_version",),
        "must be 1.1.0 or later for elastic",
    ),
]
LEGAL = [
    {"torch_version": "2.3.1"},
    {"torch_version": "2.13.0+cpu"},
    HYPERPOD | {"torch_version": "2.4.0"},
    HYPERPOD | {"torch_version": "2.7.1"},
    HYPERPOD | {"operator_version": "1.0.0"},
    HYPERPOD_ELASTIC | {"operator_version": "v1.2.0-eksbuild.2", "elastic_agent_version": "1.1.3"},
]


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
