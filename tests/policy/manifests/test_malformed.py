from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import job_manifests
import pytest
from broken_templates import ODD

from hyperpod_policy.manifests import is_manifest, manifests_of
from hyperpod_policy.review_sources import review_manifests

STRANGE = [*ODD, 1e300, "9" * 400, "1e999", "$(", "${A}", "\x00", [1, None, "a"], {"a": {"b": []}}]
JOBS = (
    job_manifests.kubeflow_job,
    job_manifests.elastic_hyperpod_job,
    job_manifests.tiered_job,
    job_manifests.checkpointless_job,
)


def _spots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in entries:
        yield (*path, key)
        yield from _spots(item, (*path, key))


@pytest.mark.parametrize("made", JOBS)
@pytest.mark.parametrize("number", range(len(STRANGE)), ids=lambda number: repr(STRANGE[number])[:30])
def test_no_malformed_value_crashes_a_review(made, number):
    """Each odd value at every 17th place of a job, from another start for each."""
    whole = made()
    for path in list(_spots(whole))[number % 17 :: 17]:
        changed = copy.deepcopy(whole)
        place = changed
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = copy.deepcopy(STRANGE[number])
        if is_manifest(changed):
            manifests = [*manifests_of(changed), *manifests_of(job_manifests.network_policy())]
            review_manifests(manifests).text()


@pytest.mark.parametrize("value", [None, [], "x", 5])
def test_a_job_without_any_shape_is_refused_and_not_a_crash(value):
    body = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": value, "spec": value}
    report = review_manifests(list(manifests_of(body)))
    assert report.outcome("ReplicaTypes") == "fail"
    assert report.outcome("PodNames") == "fail"
