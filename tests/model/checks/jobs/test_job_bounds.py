from __future__ import annotations

import pytest
from plain_jobs import HYPERPOD, HYPERPOD_ELASTIC, SPOTLESS, Case, table_tests

from hyperpod_model.job_spec import JobSpec

LARGEST = 2**31 - 1
TOO_LARGE = f"must be {LARGEST} or less, got {LARGEST + 1}"

CASES = [
    Case({"nodes": LARGEST + 1}, ("nodes",), TOO_LARGE),
    Case({"active_deadline_seconds": LARGEST + 1}, ("active_deadline_seconds",), TOO_LARGE),
    Case({"auto_resume": {"max_retries": LARGEST + 1}}, ("auto_resume", "max_retries"), TOO_LARGE),
    Case(
        HYPERPOD | {"log_monitoring": [{"name": "a", "pattern": "b", "repeats_within_seconds": LARGEST + 1}]},
        ("log_monitoring", 0, "repeats_within_seconds"),
        TOO_LARGE,
    ),
]
LEGAL = [
    {"active_deadline_seconds": LARGEST},
    {"ttl_seconds_after_finished": LARGEST},
    HYPERPOD_ELASTIC | {"active_deadline_seconds": LARGEST},
]

test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)


@pytest.mark.parametrize(("retries", "nodes", "expected"), [(10, 2, 20), (LARGEST, 2, LARGEST)])
def test_restarts_of_all_pods_are_a_number_that_kubernetes_takes(
    retries: int, nodes: int, expected: int
) -> None:
    job = JobSpec.model_validate(SPOTLESS | {"nodes": nodes, "auto_resume": {"max_retries": retries}})
    assert job.backoff_limit == expected
