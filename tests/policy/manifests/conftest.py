"""Judging manifests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import job_manifests
import pytest

from hyperpod_policy.manifests import manifests_of
from hyperpod_policy.registry import MANIFEST_RULES
from hyperpod_policy.report import Report
from hyperpod_policy.review_sources import review_manifests


@pytest.fixture
def kubeflow() -> dict[str, Any]:
    """A PyTorchJob that keeps every promise, for a test to break."""
    return job_manifests.kubeflow_job()


@pytest.fixture
def hyperpod() -> dict[str, Any]:
    """A HyperPodPyTorchJob that keeps every promise, for a test to break."""
    return job_manifests.hyperpod_job()


@pytest.fixture
def judge() -> Callable[..., Report]:
    """Judge manifests by one rule."""

    def apply(rule_id: str, *bodies: Any) -> Report:
        (rule,) = (found for found in MANIFEST_RULES if found.id == rule_id)
        manifests = [manifest for body in bodies for manifest in manifests_of(body)]
        return review_manifests(manifests, rules=[rule])

    return apply
